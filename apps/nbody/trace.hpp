// The spans of all ranks as one file.
#pragma once

#include <mpi.h>

#include <string>

#include "nbody/spans.hpp"

namespace nbody {

/// The time that all ranks take as zero, by this rank's own clock: of the hosts' clocks nothing is known but that a
/// barrier ends on all at about the same time. Collective.
double common_zero_s(MPI_Comm comm);

/// On rank 0 the text of the trace, elsewhere nothing. Collective.
std::string trace_of_all(const Spans& mine, double zero_s, const std::string& title, MPI_Comm comm);

}  // namespace nbody
