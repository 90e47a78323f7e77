// The neighbors of this rank, as the MPI library knows them.
#pragma once

#include <mpi.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/collective.hpp"
#include "mpi/api.hpp"
#include "schedule/graph/graph.hpp"

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

// Which block meets which where a rank is a neighbor several times.

/// The neighbors of this rank as messages go, in one collective; this rank itself may be among them.
struct Ports {
  std::vector<schedule::Peer> targets;
  std::vector<schedule::Peer> sources;
};

/// Where no rank on comm has a neighbor twice.
Ports plain_ports(const Topology& topology);

/// Asks the library: one call of its own in which every block is its number in the send buffer. Libraries differ for
/// repeated neighbors, in some even MPI_Neighbor_alltoall from MPI_Neighbor_alltoallv, and a program must not see which
/// of them ran. Nothing if the library fails, or its answer makes no sense. Collective over comm.
std::optional<Ports> asked_ports(const mpi::Api& api, MPI_Comm comm, Collective collective,
                                 const Topology& topology);

}  // namespace wherry::run
