// What the ranks of the MPI library at hand are to one another.
#pragma once

#include <mpi.h>

namespace wherry::mpi {

/// Whether ranks are threads that take turns, as SimGrid's SMPI has them: while one sleeps or yields the processor,
/// none goes on, and what is done outside MPI's calls, such as a copy in memory, takes no simulated time.
#ifdef SMPI_H
inline constexpr bool ranks_take_turns = true;
#else
inline constexpr bool ranks_take_turns = false;
#endif

}  // namespace wherry::mpi
