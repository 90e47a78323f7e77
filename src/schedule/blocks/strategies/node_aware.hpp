// Node-aware: the ranks of a node share the remote nodes among them, so that no single rank copies
// everything. The k-th node after mine (around the ring of nodes) is served by local rank k - 1, modulo
// the node's size.
#pragma once

#include "schedule/arithmetic.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

inline int shared_service(const topology::Placement& placement, int node, int remote) {
  const auto members = placement.members(node);
  const auto k = static_cast<std::size_t>(wrap(remote - node, placement.nodes()));
  return members[(k - 1) % members.size()];
}

}  // namespace wherry::schedule
