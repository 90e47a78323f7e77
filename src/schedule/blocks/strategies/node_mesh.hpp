// Node mesh: the rows of the mesh are the nodes. A block first goes to the rank of its own node that has the
// destination's local rank, then across. Every rank sends one message to each other node, so the
// network is used by all ranks at once; with ragged nodes the local rank counts modulo the node's size.
#pragma once

#include <vector>

#include "schedule/blocks/families/family.hpp"

namespace wherry::schedule {

struct NodeMesh {
  static constexpr Hops hops = Hops::several;
  static constexpr Pace pace = in_phases;
  static constexpr bool ranks_alike = false;

  static Route route(const topology::Placement& placement, Block block) {
    const int node = placement.node_of(block.origin);
    if (node == placement.node_of(block.destination)) return {{0, block.destination}};
    const int via = crossing(placement, node, block.destination);
    if (via == block.origin) return {{1, block.destination}};
    return {{0, via}, {1, block.destination}};
  }

  template <class Sink>
  static void visit(const topology::Placement& placement, int rank, Sink&& sink) {
    const int node = placement.node_of(rank);
    for (int peer = 0; peer < placement.size(); ++peer) {
      if (peer == rank) continue;
      sink(Block{rank, peer});
      sink(Block{peer, rank});
      if (placement.node_of(peer) == node || crossing(placement, node, peer) != rank) continue;
      for (const int origin : placement.members(node))
        if (origin != rank) sink(Block{origin, peer});
    }
  }

  static long long transit(const topology::Placement& placement) {
    std::vector<long long> blocks(static_cast<std::size_t>(placement.size()));
    long long most = 0;
    for (int node = 0; node < placement.nodes(); ++node) {
      const auto others = static_cast<long long>(placement.members(node).size()) - 1;
      for (int peer = 0; peer < placement.size(); ++peer)
        if (placement.node_of(peer) != node)
          most = std::max(most, blocks[static_cast<std::size_t>(crossing(placement, node, peer))] += others);
    }
    return most;
  }

 private:
  /// The member of `node` through which blocks for a remote destination leave.
  static int crossing(const topology::Placement& placement, int node, int destination) {
    const auto members = placement.members(node);
    return members[static_cast<std::size_t>(placement.local_rank(destination)) % members.size()];
  }
};

}  // namespace wherry::schedule
