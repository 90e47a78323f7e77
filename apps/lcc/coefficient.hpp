// The local clustering coefficient: which share of the pairs of a vertex's neighbors are neighbors of each other.
#pragma once

#include <span>

#include "lcc/graph.hpp"

namespace lcc {

/// How many numbers are in both of two sorted lists without repetitions.
std::uint64_t common(std::span<const Vertex> a, std::span<const Vertex> b);

/// links: over all neighbors of the vertex, the neighbors that they have in common with it; every link between two
/// neighbors is counted from both. 0 for a vertex with fewer than two neighbors (Watts and Strogatz, Nature 393,
/// 1998, leave it undefined; NetworKit says 0).
inline double coefficient(std::uint64_t links, std::uint64_t degree) {
  return degree < 2
             ? 0
             : static_cast<double>(links) / (static_cast<double>(degree) * static_cast<double>(degree - 1));
}

/// The links of every vertex of a whole graph, in one process and by marks instead of intersections: to check others.
std::vector<std::uint64_t> links_by_marking(const Part& graph);

}  // namespace lcc
