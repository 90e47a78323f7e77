#include "run/started/nonblocking.hpp"

namespace wherry::run {

Nonblocking::~Nonblocking() {
  if (number_) communicator()->tags.give_back(*number_);
}

/// The number first: it is taken on all ranks, even where there can be no request. Else this rank would take its later calls
/// for the others' earlier ones.
int Nonblocking::open() {
  number_ = communicator()->tags.take();
  int code = MPI_SUCCESS;
  outcome_ = Outcome::begin(communicator()->channel().api(), &request_, &code);
  if (outcome_ != nullptr) *program_ = request_;
  return code;
}

void Nonblocking::close(int code) {
  const mpi::Api& api = communicator()->channel().api();
  outcome_->code = code;
  api.Grequest_complete(request_);  // the outcome may be gone now
}

}  // namespace wherry::run
