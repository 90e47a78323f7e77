// Strategies that combine what one node has for another into one message.
//
// A rule names the rank of node A that serves node B: it gathers what A's ranks have for B's (phase 0),
// exchanges it with B's rank that serves A (phase 1) and hands out what came from B (phase 2). Between two
// nodes flows one message in each direction. Blocks within a node go straight, in phase 0.
#pragma once

#include <vector>

#include "plan/families/family.hpp"

namespace wherry::plan {

/// The member of `node` that serves `remote`; they differ.
using ServerOf = int (*)(const Shape&, int node, int remote);

template <ServerOf server>
struct Nodes {
  static constexpr Hops hops = Hops::several;
  static constexpr Pace pace = in_phases;
  static constexpr bool ranks_alike = false;

  static Route route(const Shape& shape, Block block) {
    const int from = shape.node_of(block.origin), to = shape.node_of(block.destination);
    if (from == to) return {{0, block.destination}};
    Route route;
    const int sender = server(shape, from, to), receiver = server(shape, to, from);
    if (sender != block.origin) route.push_back({0, sender});
    route.push_back({1, receiver});
    if (receiver != block.destination) route.push_back({2, block.destination});
    return route;
  }

  template <class Sink>
  static void visit(const Shape& shape, int rank, Sink&& sink) {
    for (int peer = 0; peer < shape.size(); ++peer) {
      if (peer == rank) continue;
      sink(Block{rank, peer});
      sink(Block{peer, rank});
    }
    const int node = shape.node_of(rank);
    for (int remote = 0; remote < shape.nodes(); ++remote)
      if (remote != node && server(shape, node, remote) == rank) visit_served(shape, rank, remote, sink);
  }

  /// The busiest server's blocks, both ways.
  static long long transit(const Shape& shape) {
    long long most = 0;
    std::vector<long long> blocks(static_cast<std::size_t>(shape.size()));
    for (int node = 0; node < shape.nodes(); ++node) {
      for (int remote = 0; remote < shape.nodes(); ++remote) {
        if (remote == node) continue;
        const auto served = static_cast<long long>(shape.members(node).size() * shape.members(remote).size());
        most = std::max(most, blocks[static_cast<std::size_t>(server(shape, node, remote))] += 2 * served);
      }
    }
    return most;
  }

 private:
  /// What the others of this rank's node exchange with a remote node.
  template <class Sink>
  static void visit_served(const Shape& shape, int rank, int remote, Sink&& sink) {
    for (const int mine : shape.members(shape.node_of(rank))) {
      if (mine == rank) continue;
      for (const int theirs : shape.members(remote)) {
        sink(Block{mine, theirs});
        sink(Block{theirs, mine});
      }
    }
  }
};

}  // namespace wherry::plan
