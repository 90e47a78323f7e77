// Every rank hears every rank, on a communicator of the program.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "mpi/api.hpp"

namespace wherry::run {

/// The numbers of every rank of comm, in the order of ranks; empty if the library fails.
///
/// mine: equally many on all ranks. Collective over comm, an intracommunicator.
/// By the collective that the program uses on comm anyway: another might take resources of the library for each communicator.
std::vector<long long> ask_all(const mpi::Api& api, MPI_Comm comm, std::span<const long long> mine);

}  // namespace wherry::run
