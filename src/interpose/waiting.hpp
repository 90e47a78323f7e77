// Blocking calls by what does not block, for the generated wrappers.
#pragma once

#include <mpi.h>

#include "interpose/backend.hpp"
#include "waiting/poll.hpp"

namespace wherry::interpose {

/// Asks by `test(int* flag)` until the call would return, which it then has.
template <class Test>
int by_testing(const Test& test) {
  return waiting::poll<waiting::Pause::sleeps>(test);
}

/// Waits for a request of our own.
inline int finish(MPI_Request& request, MPI_Status* status) {
  return by_testing([&](int* flag) { return backend().test(&request, flag, status); });
}

/// A call that one request stands for.
template <class Start>
int by_requests(MPI_Status* status, const Start& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start(&request);
  return code != MPI_SUCCESS ? code : finish(request, status);
}

/// A call that two requests stand for; the status is that of the first, a receive. Where the second cannot begin, the program
/// must not have its buffer written to later.
template <class First, class Second>
int by_requests(MPI_Status* status, const First& first, const Second& second) {
  MPI_Request received = MPI_REQUEST_NULL, sent = MPI_REQUEST_NULL;
  int code = first(&received);
  if (code != MPI_SUCCESS) return code;
  code = second(&sent);
  if (code != MPI_SUCCESS) {
    backend().queries().Cancel(&received);
    finish(received, MPI_STATUS_IGNORE);
    return code;
  }
  code = finish(received, status);
  const int of_send = finish(sent, MPI_STATUS_IGNORE);
  return code != MPI_SUCCESS ? code : of_send;
}

inline bool is_patient() { return backend().patience.polls(); }
inline bool is_patient_in(MPI_Comm comm) { return backend().patience.polls_together(comm); }
inline bool is_patient_reducing_in(MPI_Comm comm) { return backend().patience.reduces_together(comm); }

}  // namespace wherry::interpose
