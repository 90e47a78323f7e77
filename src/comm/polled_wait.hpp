// How Wherry's own messages and calls are waited for where the library would spin.
#pragma once

#include <mpi.h>
#include <sched.h>

#include "mpi/ranks.hpp"
#include "waiting/poll.hpp"

namespace wherry::run {

using waiting::polls_before_yield;

/// Calls `done(int* flag)` until it reports completion or an error.
template <class Test>
int poll(Test done) {
  if constexpr (mpi::ranks_take_turns) return waiting::poll(done, waiting::never_sleeps);
  else return waiting::poll(done);
}

}  // namespace wherry::run
