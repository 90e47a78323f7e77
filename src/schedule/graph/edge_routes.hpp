// How the blocks of a neighborhood travel: straight, in rounds, across nodes, or along the dimensions of a grid.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "schedule/blocks/families/digits.hpp"
#include "schedule/blocks/families/nodes.hpp"
#include "schedule/graph/graph.hpp"

namespace wherry::schedule {

/// Straight, all at once.
inline RouteOfEdge straight(const Graph&, const topology::Placement&) {
  return [](Block edge, int) { return Route{{0, edge.destination}}; };
}

// Rounds: straight to the neighbor, in rounds in which no rank sends to two, nor receives from two.
// Bounds how many messages are under way at once, so that a rank with many neighbors is not flooded.

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

// Across nodes: what the ranks of one node have for those of another travels in one message.

/// Whether two edges lead from one node to the same other one.
inline bool has_parallel_edges(const Graph& graph, const topology::Placement& placement) {
  std::set<std::pair<int, int>> seen;
  for (const Block& edge : graph.edges()) {
    const std::pair nodes{placement.node_of(edge.origin), placement.node_of(edge.destination)};
    if (nodes.first != nodes.second && !seen.insert(nodes).second) return true;
  }
  return false;
}

/// The routes of the all-to-all in which `server` names the rank of a node that serves another.
template <ServerOf server>
RouteOfEdge across_nodes(const Graph& graph, const topology::Placement& placement) {
  if (!has_parallel_edges(graph, placement)) return {};
  return [&placement](Block edge, int) { return Nodes<server>::route(placement, edge); };
}

// Dimensions: message combining along the dimensions of a grid.
//
// Stencils reach their diagonal neighbors through the straight ones: 27 points take 6 messages instead of 26, and a
// block moves once for each coordinate in which it differs. After Traeff, Luebbe, Rougier and Hunold, "Isomorphic,
// Sparse MPI-like Collective Communication Operations for Parallel Stencil Computations", EuroMPI 2015. A graph does
// not say on which grid it lives, so the grid is found: the one with the fewest messages of all that the ranks fill, in
// the order of MPI_Cart_create.

/// A grid that all ranks fill, as the places of a rank's digits, the last dimension first.
struct FittedGrid {
  Places places;
  int messages = 0;  // at most so many that a rank sends on it
};

/// The grid of at most three dimensions with the fewest messages; 0 digits if none has fewer than `limit`.
FittedGrid fitted_grid(const Graph& graph, int limit);

/// Where it saves a third of the messages at least.
RouteOfEdge along_dimensions(const Graph& graph, const topology::Placement& placement);

}  // namespace wherry::schedule
