#include "progress/request.hpp"

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

}  // namespace wherry::run
