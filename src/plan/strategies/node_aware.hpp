// Node-aware: the ranks of a node share the remote nodes among them, so that no single rank copies
// everything. The k-th node after mine (around the ring of nodes) is served by local rank k - 1, modulo
// the node's size.
#pragma once

#include "plan/arithmetic.hpp"
#include "plan/shape.hpp"

namespace wherry::plan {

inline int shared_service(const Shape& shape, int node, int remote) {
  const auto members = shape.members(node);
  const auto k = static_cast<std::size_t>(wrap(remote - node, shape.nodes()));
  return members[(k - 1) % members.size()];
}

}  // namespace wherry::plan
