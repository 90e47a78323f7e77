// Which rank of a node serves another node (families/nodes.hpp).
#pragma once

#include "schedule/arithmetic.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

/// Leader: the first rank of each node speaks for all of it.
/// Fewest ranks on the network; the leader copies everything, so it is for small blocks and few ranks per
/// node.
inline int leader(const topology::Placement& placement, int node, int) {
  return placement.members(node).front();
}

/// Node-aware: the ranks of a node share the remote nodes among them, so that no single rank copies
/// everything. The k-th node after mine (around the ring of nodes) is served by local rank k - 1, modulo
/// the node's size.
inline int shared_service(const topology::Placement& placement, int node, int remote) {
  const auto members = placement.members(node);
  const auto k = static_cast<std::size_t>(wrap(remote - node, placement.nodes()));
  return members[(k - 1) % members.size()];
}

}  // namespace wherry::schedule
