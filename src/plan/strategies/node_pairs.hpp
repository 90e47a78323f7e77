// Node pairs: nodes meet in rounds, in each of which a node sends to one and receives from one.
//
// For large blocks, where links are the bottleneck and forwarding would only add copies. Traffic within nodes comes first.
// In the step of a round of nodes, the local ranks i and j exchange if (i + j) mod L is its number, L being the size
// of the largest node: one partner at a time for everybody.
#pragma once

#include <algorithm>

#include "plan/arithmetic.hpp"
#include "plan/schedule.hpp"
#include "plan/shape.hpp"

namespace wherry::plan {

inline int node_pairs(const Shape& shape, Block b) {
  const int from = shape.node_of(b.origin), to = shape.node_of(b.destination);
  const int steps = shape.largest_node();
  const int step = (shape.local_rank(b.origin) + shape.local_rank(b.destination)) % steps;
  return meeting_round(from, to, shape.nodes()) * steps + step;
}

}  // namespace wherry::plan
