// Blocking calls by what does not block, for the generated wrappers.
#pragma once

#include <mpi.h>

#include "base/own_errno.hpp"
#include "interpose/backend.hpp"
#include "waiting/poll.hpp"

namespace wherry::interpose {

/// What a call returned, and whether it failed. MPICH 5 gives MPI_SUCCESS where an error handler of the program's own has seen an
/// error: that it failed shows by what it has not written.
struct Returned {
  int code;
  bool failed;
};

/// Asks by `test(int* flag)` until it says that something is over, or fails.
template <class Test>
Returned ask(const Test& test) {
  constexpr int untouched = 2;
  bool failed = false;
  const int code = waiting::poll([&](int* flag) {
    *flag = untouched;
    const int now = test(flag);
    failed = now != MPI_SUCCESS || *flag == untouched;
    return now;
  });
  return {code, failed};
}

/// A call that has returned once `test` says so.
template <class Test>
int by_testing(const Test& test) {
  return ask(test).code;
}

/// Waits for a request of our own.
inline int finish(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE) {
  return by_testing([&](int* flag) { return backend().test(&request, flag, status); });
}

/// Begins a request; whether it failed.
template <class Start>
Returned begin(const Start& start, MPI_Request& request) {
  const int code = start(&request);
  return {code, code != MPI_SUCCESS || request == MPI_REQUEST_NULL};
}

/// A call that a request stands for.
template <class Start>
int by_request(const Start& start, MPI_Status* status = MPI_STATUS_IGNORE) {
  MPI_Request request = MPI_REQUEST_NULL;
  const Returned begun = begin(start, request);
  return begun.failed ? begun.code : finish(request, status);
}

/// Whether a receive's arguments are wrong. check: begins a receive of nothing into that buffer.
template <class Check>
Returned validate(const Check& check) {
  MPI_Request nothing = MPI_REQUEST_NULL;
  const Returned begun = begin(check, nothing);
  if (!begun.failed) finish(nothing);
  return begun;
}

/// A receive, which the library performs once its message is there: not by a request, whose errors some libraries
/// (MPICH 4) bring to another error handler. arrived: probes. Wrong arguments must not wait for a message.
template <class Check, class Test, class Take>
int by_arrival(const Check& check, const Test& arrived, const Take& take) {
  Returned done = validate(check);
  if (!done.failed) done = ask(arrived);
  return done.failed ? done.code : take();
}

/// The same beside a send, which begins once all arguments are known to be right.
template <class Check, class Start, class Test, class Take>
int by_arrival(const Check& check, const Start& start, const Test& arrived, const Take& take) {
  MPI_Request sent = MPI_REQUEST_NULL;
  Returned done = validate(check);
  if (!done.failed) {
    constexpr int untouched = 2;
    int flag = untouched;
    done.code = arrived(&flag);
    done.failed = done.code != MPI_SUCCESS || flag == untouched;
  }
  if (!done.failed) done = begin(start, sent);
  if (done.failed) return done.code;
  done = ask(arrived);
  const int code = done.failed ? done.code : take();
  const int of_send = finish(sent);
  return code != MPI_SUCCESS ? code : of_send;
}

/// While it lives, a call that only the library can make gives the core away where that has a setting for it. A library
/// that sleeps where it would spin sees each signal as an error: the program does not.
class LibraryWait {
 public:
  explicit LibraryWait(std::uint32_t function) : entered_(backend().wait_policy.enter_library(function)) {}
  ~LibraryWait() {
    if (entered_) backend().wait_policy.leave_library();
  }
  LibraryWait(const LibraryWait&) = delete;
  LibraryWait& operator=(const LibraryWait&) = delete;

 private:
  const OwnErrno own_;
  const bool entered_;
};

/// MPI_Win_post, by `next`.
template <class Next>
int post(MPI_Group group, int assertion, const Next& next) {
  const int code = next();
  const PostNotices& notices = backend().wait_policy.notices();
  if (code == MPI_SUCCESS && notices.are_on() && (assertion & MPI_MODE_NOCHECK) == 0) notices.tell(group);
  return code;
}

/// MPI_Win_start, by `next`.
template <class Next>
int start(MPI_Group group, int assertion, const Next& next) {
  PostNotices& notices = backend().wait_policy.notices();
  if (notices.are_on() && (assertion & MPI_MODE_NOCHECK) == 0) notices.await(group);
  return next();
}

/// Whether a call of the function, by its index in the record, is to poll; it is counted then.
inline bool is_patient(std::uint32_t function) {
  return backend().wait_policy.polls() && backend().wait_policy.note(function);
}
/// Whether collectives with counts of this type may poll, alike on all ranks.
template <class Count>
bool may_poll_with() {
  return sizeof(Count) == sizeof(int) || backend().wait_policy.polls_with_large_counts();
}
inline bool is_patient_in(MPI_Comm comm, std::uint32_t function) {
  return backend().wait_policy.polls_together(comm) && backend().wait_policy.note(function);
}
inline bool is_patient_with_neighbors_in(MPI_Comm comm, std::uint32_t function) {
  return backend().wait_policy.exchanges_together(comm) && backend().wait_policy.note(function);
}
inline bool is_patient_reducing_in(MPI_Comm comm, std::uint32_t function) {
  return backend().wait_policy.reduces_together(comm) && backend().wait_policy.note(function);
}

}  // namespace wherry::interpose
