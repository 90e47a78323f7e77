// Strategies that combine what one node has for another into one message.
//
// A rule names the rank of node A that serves node B: it gathers what A's ranks have for B's (phase 0),
// exchanges it with B's rank that serves A (phase 1) and hands out what came from B (phase 2). Between two
// nodes flows one message in each direction. Blocks within a node go straight, in phase 0.
#pragma once

#include <vector>

#include "schedule/blocks/families/family.hpp"

namespace wherry::schedule {

/// The member of `node` that serves `remote`; they differ.
using ServerOf = int (*)(const topology::Placement&, int node, int remote);

template <ServerOf server>
struct Nodes {
  static constexpr Hops hops = Hops::several;
  static constexpr Pace pace = in_phases;
  static constexpr bool ranks_alike = false;

  static Route route(const topology::Placement& placement, Block block) {
    const int from = placement.node_of(block.origin), to = placement.node_of(block.destination);
    if (from == to) return {{0, block.destination}};
    Route route;
    const int sender = server(placement, from, to), receiver = server(placement, to, from);
    if (sender != block.origin) route.push_back({0, sender});
    route.push_back({1, receiver});
    if (receiver != block.destination) route.push_back({2, block.destination});
    return route;
  }

  template <class Sink>
  static void visit(const topology::Placement& placement, int rank, Sink&& sink) {
    visit_own(placement, rank, sink);
    const int node = placement.node_of(rank);
    for (int remote = 0; remote < placement.nodes(); ++remote)
      if (remote != node && server(placement, node, remote) == rank)
        visit_served(placement, rank, remote, sink);
  }

  /// The busiest server's blocks, both ways.
  static long long transit(const topology::Placement& placement) {
    long long most = 0;
    std::vector<long long> blocks(static_cast<std::size_t>(placement.size()));
    for (int node = 0; node < placement.nodes(); ++node) {
      for (int remote = 0; remote < placement.nodes(); ++remote) {
        if (remote == node) continue;
        const auto served =
            static_cast<long long>(placement.members(node).size() * placement.members(remote).size());
        most =
            std::max(most, blocks[static_cast<std::size_t>(server(placement, node, remote))] += 2 * served);
      }
    }
    return most;
  }

 private:
  /// What the others of this rank's node exchange with a remote node.
  template <class Sink>
  static void visit_served(const topology::Placement& placement, int rank, int remote, Sink&& sink) {
    for (const int mine : placement.members(placement.node_of(rank))) {
      if (mine == rank) continue;
      for (const int theirs : placement.members(remote)) {
        sink(Block{mine, theirs});
        sink(Block{theirs, mine});
      }
    }
  }
};

}  // namespace wherry::schedule
