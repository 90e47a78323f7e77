// Leader: the first rank of each node speaks for all of it.
// Fewest ranks on the network; the leader copies everything, so it is for small blocks and few ranks per
// node.
#pragma once

#include "topology/placement.hpp"

namespace wherry::schedule {

inline int leader(const topology::Placement& placement, int node, int) {
  return placement.members(node).front();
}

}  // namespace wherry::schedule
