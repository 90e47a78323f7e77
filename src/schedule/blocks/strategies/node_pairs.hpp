// Node pairs: nodes meet in rounds, in each of which a node sends to one and receives from one.
//
// For large blocks, where links are the bottleneck and forwarding would only add copies. Traffic within nodes comes
// first. In the step of a round of nodes, the local ranks i and j exchange if (i + j) mod L is its number, L being the
// size of the largest node: one partner at a time for everybody.
#pragma once

#include <algorithm>

#include "schedule/arithmetic.hpp"
#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

inline int node_pairs(const topology::Placement& placement, Block b) {
  const int from = placement.node_of(b.origin), to = placement.node_of(b.destination);
  const int steps = placement.largest_node();
  const int step = (placement.local_rank(b.origin) + placement.local_rank(b.destination)) % steps;
  return meeting_round(from, to, placement.nodes()) * steps + step;
}

}  // namespace wherry::schedule
