#include "progress/nonblocking.hpp"

namespace wherry::run {

namespace {

/// An empty status (MPI 4.1, 3.7.3), as of any collective.
int query(void* state, MPI_Status* status) {
  const OperationRequest& request_state = *static_cast<OperationRequest*>(state);
  request_state.api.Status_set_elements(status, MPI_BYTE, 0);
  request_state.api.Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  return request_state.code;
}

int release(void* state) {
  delete static_cast<OperationRequest*>(state);
  return MPI_SUCCESS;
}

/// Collectives cannot be cancelled (MPI 4.1, 6.12).
int cancel(void*, int) { return MPI_ERR_REQUEST; }

}  // namespace

OperationRequest* OperationRequest::begin(const mpi::Api& api, MPI_Request* request, int* code) {
  auto* const request_state = new OperationRequest{api};
  *code = api.Grequest_start(query, release, cancel, request_state, request);
  if (*code == MPI_SUCCESS) return request_state;
  delete request_state;
  return nullptr;
}

Nonblocking::~Nonblocking() {
  if (sequence_) communicator()->tags().give_back(*sequence_);
  if (in_line_) communicator()->reserved_memory().leave(this);
}

/// Its own, or the turn to have what is reserved. False: that would not do, as where more comes than the program has
/// room for.
bool Nonblocking::find_memory() {
  ReservedMemory& reserved_memory = communicator()->reserved_memory();
  if (take_memory()) return true;
  if (staging_bytes() > reserved_memory.bytes()) return false;
  reserved_memory.stand_in_line(this);
  return in_line_ = true;
}

std::optional<std::byte*> Nonblocking::memory() const {
  if (!in_line_) return taken();
  ReservedMemory& reserved_memory = communicator()->reserved_memory();
  return reserved_memory.is_turn_of(this) ? std::optional(reserved_memory.data()) : std::nullopt;
}

/// The sequence number first: it is taken on all ranks, even where there can be no request. Else this rank would take
/// its later calls for the others' earlier ones.
int Nonblocking::open() {
  sequence_ = communicator()->tags().take();
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
  api.Grequest_complete(request_);  // the operation may be gone now
}

}  // namespace wherry::run
