#include "progress/request.hpp"

namespace wherry::run {

namespace {

/// An empty status (MPI 4.1, 3.7.3), as of any collective.
int query(void* state, MPI_Status* status) {
  const Outcome& outcome = *static_cast<Outcome*>(state);
  outcome.api.Status_set_elements(status, MPI_BYTE, 0);
  outcome.api.Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  return outcome.code;
}

int release(void* state) {
  delete static_cast<Outcome*>(state);
  return MPI_SUCCESS;
}

/// Collectives cannot be cancelled (MPI 4.1, 6.12).
int cancel(void*, int) { return MPI_ERR_REQUEST; }

}  // namespace

Outcome* Outcome::begin(const mpi::Api& api, MPI_Request* request, int* code) {
  auto* const outcome = new Outcome{api};
  *code = api.Grequest_start(query, release, cancel, outcome, request);
  if (*code == MPI_SUCCESS) return outcome;
  delete outcome;
  return nullptr;
}

}  // namespace wherry::run
