// Calls on requests, and the start of MPI, that Wherry must see to perform nonblocking and persistent collectives.
// Included by the generated wrappers.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>

#include "interpose/backend.hpp"

namespace wherry::interpose {

/// The library starts its requests; Wherry then progresses those that stand for its collectives.
template <class Next>
int start_requests(int count, const MPI_Request requests[], const Next& next) {
  const int code = next();
  if (code == MPI_SUCCESS && backend().replaces_nonblocking())
    backend().runtime().factory().started({requests, static_cast<std::size_t>(count)});
  return code;
}

/// Forgotten first: another thread may get the same handle for a new request as soon as it is free.
template <class Next>
int free_request(MPI_Request* request, const Next& next) {
  if (!backend().replaces_nonblocking()) return next();
  const std::shared_ptr<const void> kept = backend().runtime().factory().forget(*request);
  return next();
}

/// Collectives cannot be cancelled (MPI 4.1, 6.13), and the receive that stands for one must not be.
template <class Next>
int cancel_request(MPI_Request* request, const Next& next) {
  const bool ours = backend().replaces_nonblocking() && backend().runtime().factory().is_ours(*request);
  return ours ? MPI_ERR_REQUEST : next();
}

/// A progress thread needs MPI_THREAD_MULTIPLE, whatever the program asks for. It may get more than it asked for.
inline void raise_level(int& required) {
  if (backend().wants_thread()) required = MPI_THREAD_MULTIPLE;
}

template <class Next>
int initialize(int* argc, char*** argv, const Next& next) {
  using InitThread = int(int*, char***, int, int*);
  auto* const init_thread = reinterpret_cast<InitThread*>(backend().next("MPI_Init_thread"));
  int provided = MPI_THREAD_SINGLE;
  return backend().wants_thread() ? init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided) : next();
}

}  // namespace wherry::interpose
