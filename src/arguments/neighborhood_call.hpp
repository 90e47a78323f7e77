// One neighborhood collective as the program asks for it.
#pragma once

#include <mpi.h>

#include <string_view>
#include <vector>

#include "arguments/blocks.hpp"
#include "arguments/calls.hpp"
#include "arguments/neighbors.hpp"

namespace wherry::run {

/// What this rank sends to each target and receives from each source, by their numbers. Of nobody, the share means
/// nothing.
struct NeighborCall {
  std::vector<Share> send;
  std::vector<Share> receive;
  TypeMemory types;

  long long bytes_sent(const Topology& topology) const;
};

/// Fills `read`, reusing its memory. false: arguments that only the library should validate.
bool read_neighbors(const mpi::Api& api, const NeighborAlltoall& call, const Topology& topology,
                    NeighborCall& read);
bool read_neighbors(const mpi::Api& api, const NeighborAlltoallv& call, const Topology& topology,
                    NeighborCall& read);
bool read_neighbors(const mpi::Api& api, const NeighborAlltoallw& call, const Topology& topology,
                    NeighborCall& read);
bool read_neighbors(const mpi::Api& api, const NeighborAllgather& call, const Topology& topology,
                    NeighborCall& read);
bool read_neighbors(const mpi::Api& api, const NeighborAllgatherv& call, const Topology& topology,
                    NeighborCall& read);

}  // namespace wherry::run
