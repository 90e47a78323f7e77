// A nonblocking collective: begun once, and completed by a native request.
#pragma once

#include <mpi.h>

#include <optional>
#include <string_view>

#include "mpi/api.hpp"
#include "progress/operation.hpp"

namespace wherry::run {

// The request that the program holds for a collective that Wherry performs.

/// What a generalized request (MPI 4.1, 13.2) says when it is over; belongs to the request, which frees it.
struct OperationRequest {
  const mpi::Api& api;
  int code = MPI_SUCCESS;

  /// A new request, or nullptr with an MPI code in *code.
  static OperationRequest* begin(const mpi::Api& api, MPI_Request* request, int* code);
};

class Nonblocking final : public NonblockingOperation {
 public:
  /// request: the program's, which begin() makes.
  Nonblocking(std::shared_ptr<Communicator> c, MPI_Request* request)
      : NonblockingOperation(std::move(c)), program_(request) {}
  ~Nonblocking() override;

 private:
  int open() override;
  int tag() const override { return communicator()->tags().tag(*sequence_); }
  bool has_tag() const override { return communicator()->tags().is_free(*sequence_); }
  std::optional<std::byte*> memory() const override;
  void close(int code) override;
  bool find_memory();

  MPI_Request* program_;
  std::optional<Tags::Sequence> sequence_;
  bool in_line_ = false;  // for the reserved memory
  MPI_Request request_ = MPI_REQUEST_NULL;
  OperationRequest* request_state_ = nullptr;
};

}  // namespace wherry::run
