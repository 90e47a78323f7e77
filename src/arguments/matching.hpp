// Which block meets which where a rank is a neighbor several times.
#pragma once

#include <mpi.h>

#include <optional>
#include <utility>
#include <vector>

#include "arguments/neighbors.hpp"
#include "base/collective.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// The neighbors of this rank as messages go, in one collective; this rank itself may be among them.
struct Ports {
  std::vector<schedule::Peer> targets;
  std::vector<schedule::Peer> sources;
};

/// Where no rank on comm has a neighbor twice.
Ports plain_ports(const Topology& topology);

/// Asks the library: one call of its own in which every block is its number in the send buffer. Libraries differ for repeated
/// neighbors, in some even MPI_Neighbor_alltoall from MPI_Neighbor_alltoallv, and a program must not see which of them ran.
/// Nothing if the library fails, or its answer makes no sense. Collective over comm.
std::optional<Ports> asked_ports(const mpi::Api& api, MPI_Comm comm, Collective collective,
                                 const Topology& topology);

}  // namespace wherry::run
