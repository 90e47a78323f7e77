// The neighbors of this rank, as the MPI library knows them.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/api.hpp"
#include "schedule/graph/peers.hpp"

namespace wherry::run {

/// In the order of the buffers of neighborhood collectives (MPI 4.1, 8.6); schedule::nobody for MPI_PROC_NULL.
struct Topology {
  std::vector<int> sources;
  std::vector<int> targets;
  bool known = false;  // false: the communicator has none, or the library does not tell
};

/// Local, as the next. comm must be valid.
bool has_topology(const mpi::Api& api, MPI_Comm comm);
Topology topology_of(const mpi::Api& api, MPI_Comm comm);

}  // namespace wherry::run
