#include "lcc/graph.hpp"

#include <algorithm>
#include <numeric>

namespace lcc {

Part part_of(std::vector<Edge> edges, Vertex first, Vertex count) {
  std::ranges::sort(edges);
  edges.erase(std::ranges::unique(edges).begin(), edges.end());
  Part part{.first = first, .offsets = std::vector<std::uint64_t>(std::size_t{count} + 1), .neighbors = {}};
  part.neighbors.reserve(edges.size());
  for (const Edge& edge : edges) {
    ++part.offsets[edge.from - first + 1];
    part.neighbors.push_back(edge.to);
  }
  std::partial_sum(part.offsets.begin(), part.offsets.end(), part.offsets.begin());
  return part;
}

std::vector<Edge> both_ways(std::span<const Edge> edges) {
  std::vector<Edge> all;
  all.reserve(2 * edges.size());
  for (const auto& [from, to] : edges) {
    if (from == to) continue;
    all.push_back({from, to});
    all.push_back({to, from});
  }
  return all;
}

}  // namespace lcc
