// Rounds: straight to the neighbor, in rounds in which no rank sends to two, nor receives from two.
// Bounds how many messages are under way at once, so that a rank with many neighbors is not flooded.
#pragma once

#include <vector>

#include "schedule/graph/neighborhood_strategy.hpp"

namespace wherry::schedule {

/// The round of each edge. No two edges of one origin share a round, nor two of one destination.
///
/// Edges take the first round that is free at both ends, in the order of their distance around the ring of ranks: those
/// of one distance fit into one round. At most 2 d - 1 rounds for d neighbors.
std::vector<int> rounds_of(const Graph& graph);

/// `width` rounds share a phase.
template <int width>
RouteOfEdge in_rounds(const Graph& graph, const topology::Placement&) {
  if (graph.most_neighbors() < 2 * width + 1) return {};
  return [rounds = rounds_of(graph)](Block edge, int number) {
    return Route{{rounds[static_cast<std::size_t>(number)] / width, edge.destination}};
  };
}

}  // namespace wherry::schedule
