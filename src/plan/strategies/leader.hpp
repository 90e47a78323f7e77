// Leader: the first rank of each node speaks for all of it.
// Fewest ranks on the network; the leader copies everything, so it is for small blocks and few ranks per
// node.
#pragma once

#include "plan/shape.hpp"

namespace wherry::plan {

inline int leader(const Shape& shape, int node, int) { return shape.members(node).front(); }

}  // namespace wherry::plan
