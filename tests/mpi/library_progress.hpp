// How a test waits for what nobody but itself progresses.
#pragma once

#include <mpi.h>
#include <sched.h>

namespace wherry::test {

/// The library's own progress. Gives the core away as well: ranks that share one would wait for time slices to end.
inline void let_library_progress() {
  int any = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
  sched_yield();
}

}  // namespace wherry::test
