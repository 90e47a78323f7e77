#include "progress/nonblocking.hpp"

namespace wherry::run {

Nonblocking::~Nonblocking() {
  if (number_) communicator()->tags.give_back(*number_);
  if (in_line_) communicator()->reserved_memory.leave(this);
}

/// Its own, or the turn to have what is reserved. False: that would not do, as where more comes than the program has room for.
bool Nonblocking::find_memory() {
  ReservedMemory& reserved_memory = communicator()->reserved_memory;
  if (take_memory()) return true;
  if (staging_bytes() > reserved_memory.bytes()) return false;
  reserved_memory.stand_in_line(this);
  return in_line_ = true;
}

std::optional<std::byte*> Nonblocking::memory() const {
  if (!in_line_) return taken();
  ReservedMemory& reserved_memory = communicator()->reserved_memory;
  return reserved_memory.is_turn_of(this) ? std::optional(reserved_memory.data()) : std::nullopt;
}

/// The number first: it is taken on all ranks, even where there can be no request. Else this rank would take its later calls
/// for the others' earlier ones.
int Nonblocking::open() {
  number_ = communicator()->tags.take();
  if (!find_memory()) return MPI_ERR_NO_MEM;
  int code = MPI_SUCCESS;
  request_state_ = OperationRequest::begin(communicator()->channel().api(), &request_, &code);
  if (request_state_ != nullptr) *program_ = request_;
  return code;
}

void Nonblocking::close(int code) {
  const mpi::Api& api = communicator()->channel().api();
  give_back_memory();
  request_state_->code = code;
  api.Grequest_complete(request_);  // the outcome may be gone now
}

}  // namespace wherry::run
