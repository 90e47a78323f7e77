// A persistent collective behind a persistent request of the library.
#pragma once

#include <cstddef>

#include "progress/operation.hpp"

namespace wherry::run {

/// The request that the program holds is a receive of nothing from this very rank, on Wherry's communicator. MPI_Start
/// posts it, as it posts any other; an empty message to oneself completes it when the collective is over. So it is inactive,
/// active and complete when the library says so, in all of MPI_Wait's and MPI_Test's forms.
class Persistent final : public NonblockingOperation {
 public:
  /// tag: for good. request: the program's, which make() makes.
  Persistent(std::shared_ptr<Communicator> c, int tag) : NonblockingOperation(std::move(c)), tag_(tag) {}

  /// The program's request. Returns an MPI code.
  int make(MPI_Request* request);

 private:
  int open() override { return MPI_SUCCESS; }
  int tag() const override { return tag_; }
  void close(int code) override;

  const int tag_;
  std::byte landing_[1] = {};  // a receive of nothing still needs a place in some libraries, should more come
};

}  // namespace wherry::run
