// Waiting by asking again and again, without keeping the processor from those that are waited for.
#pragma once

#include <mpi.h>
#include <sched.h>

namespace wherry::run {

// Polls before the first yield: about the time of one message between two running ranks.
inline constexpr int polls_before_yield = 64;

/// Calls `done(int* flag)` until it reports completion or an error, yielding between calls after a while.
template <class Test>
int poll(Test done) {
  for (int polls = 0;; ++polls) {
    int flag = 0;
    const int code = done(&flag);
    if (code != MPI_SUCCESS || flag) return code;
    if (polls >= polls_before_yield) sched_yield();
  }
}

}  // namespace wherry::run
