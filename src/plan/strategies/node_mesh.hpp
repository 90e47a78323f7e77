// Node mesh: the rows of the mesh are the nodes. A block first goes to the rank of its own node that has the
// destination's local rank, then across. Every rank sends one message to each other node, so the
// network is used by all ranks at once; with ragged nodes the local rank counts modulo the node's size.
#pragma once

#include <vector>

#include "plan/families/family.hpp"

namespace wherry::plan {

struct NodeMesh {
  static constexpr Hops hops = Hops::several;
  static constexpr Pace pace = in_phases;
  static constexpr bool ranks_alike = false;

  static Route route(const Shape& shape, Block block) {
    const int node = shape.node_of(block.origin);
    if (node == shape.node_of(block.destination)) return {{0, block.destination}};
    const int via = crossing(shape, node, block.destination);
    if (via == block.origin) return {{1, block.destination}};
    return {{0, via}, {1, block.destination}};
  }

  template <class Sink>
  static void visit(const Shape& shape, int rank, Sink&& sink) {
    const int node = shape.node_of(rank);
    for (int peer = 0; peer < shape.size(); ++peer) {
      if (peer == rank) continue;
      sink(Block{rank, peer});
      sink(Block{peer, rank});
      if (shape.node_of(peer) == node || crossing(shape, node, peer) != rank) continue;
      for (const int origin : shape.members(node))
        if (origin != rank) sink(Block{origin, peer});
    }
  }

  static long long transit(const Shape& shape) {
    std::vector<long long> blocks(static_cast<std::size_t>(shape.size()));
    long long most = 0;
    for (int node = 0; node < shape.nodes(); ++node) {
      const auto others = static_cast<long long>(shape.members(node).size()) - 1;
      for (int peer = 0; peer < shape.size(); ++peer)
        if (shape.node_of(peer) != node)
          most = std::max(most, blocks[static_cast<std::size_t>(crossing(shape, node, peer))] += others);
    }
    return most;
  }

 private:
  /// The member of `node` through which blocks for a remote destination leave.
  static int crossing(const Shape& shape, int node, int destination) {
    const auto members = shape.members(node);
    return members[static_cast<std::size_t>(shape.local_rank(destination)) % members.size()];
  }
};

}  // namespace wherry::plan
