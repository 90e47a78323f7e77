#include "lcc/coefficient.hpp"

#include <algorithm>

namespace lcc {
namespace {

/// From here on it is faster to look each number of the shorter list up in the longer one.
constexpr std::size_t lopsided = 32;

std::uint64_t common_by_search(std::span<const Vertex> few, std::span<const Vertex> many) {
  std::uint64_t found = 0;
  auto from = many.begin();
  for (const Vertex vertex : few) {
    from = std::lower_bound(from, many.end(), vertex);
    if (from == many.end()) break;
    found += *from == vertex ? 1 : 0;
  }
  return found;
}

/// Without branches on the numbers, which nobody can predict.
std::uint64_t common_by_merging(std::span<const Vertex> a, std::span<const Vertex> b) {
  std::uint64_t found = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Vertex x = a[i], y = b[j];
    found += x == y ? 1 : 0;
    i += x <= y ? 1 : 0;
    j += y <= x ? 1 : 0;
  }
  return found;
}

}  // namespace

std::uint64_t common(std::span<const Vertex> a, std::span<const Vertex> b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.size() / lopsided >= a.size() ? common_by_search(a, b) : common_by_merging(a, b);
}

std::vector<std::uint64_t> links_by_marking(const Part& graph) {
  std::vector<std::uint64_t> links(graph.vertices());
  std::vector<bool> marked(graph.vertices());
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const Vertex near : graph.list(vertex)) marked[near] = true;
    for (const Vertex near : graph.list(vertex))
      for (const Vertex far : graph.list(near)) links[vertex] += marked[far] ? 1 : 0;
    for (const Vertex near : graph.list(vertex)) marked[near] = false;
  }
  return links;
}

}  // namespace lcc
