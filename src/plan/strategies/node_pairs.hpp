// Node pairs: nodes meet two by two, and while A meets B every link carries data in both directions.
//
// For large blocks, where links are the bottleneck and forwarding would only add copies. N nodes meet in N
// rounds as in a round-robin tournament: A and B in round (A + B) mod N, for any N. A node that is paired
// with itself uses the round for its inner traffic. Inside a round, the local ranks i and j meet in step
// (i + j) mod L, L being the size of the largest node: one partner at a time for everybody.
#pragma once

#include <algorithm>

#include "plan/schedule.hpp"
#include "plan/shape.hpp"

namespace wherry::plan {

inline int node_pairs(const Shape& shape, Block b) {
  const int from = shape.node_of(b.origin), to = shape.node_of(b.destination);
  const int steps = shape.largest_node();
  const int step = (shape.local_rank(b.origin) + shape.local_rank(b.destination)) % steps;
  return (from + to) % shape.nodes() * steps + step;
}

}  // namespace wherry::plan
