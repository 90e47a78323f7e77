// A nonblocking collective: begun once, and completed by a request of the library's own kind.
#pragma once

#include <optional>
#include <string_view>

#include "progress/operation.hpp"
#include "progress/request.hpp"

namespace wherry::run {

class Nonblocking final : public NonblockingOperation {
 public:
  /// request: the program's, which begin() makes.
  Nonblocking(std::shared_ptr<Communicator> c, MPI_Request* request)
      : NonblockingOperation(std::move(c)), program_(request) {}
  ~Nonblocking() override;

 private:
  int open() override;
  int tag() const override { return communicator()->tags.tag(*number_); }
  bool has_tag() const override { return communicator()->tags.is_free(*number_); }
  std::optional<std::byte*> memory() const override;
  void close(int code) override;
  bool find_memory();

  MPI_Request* program_;
  std::optional<Tags::Number> number_;
  bool in_line_ = false;  // for the memory that is set aside
  MPI_Request request_ = MPI_REQUEST_NULL;
  OperationRequest* request_state_ = nullptr;
};

}  // namespace wherry::run
