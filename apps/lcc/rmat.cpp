#include "lcc/rmat.hpp"

#include <algorithm>

#include "support/mix.hpp"

namespace lcc {
namespace {

/// Probabilities up to each quarter, as thresholds of a number of 32 bits: 0.57, 0.19, 0.19 and 0.05.
constexpr double whole = 4294967296.0;
constexpr auto first_quarter = static_cast<std::uint64_t>(0.57 * whole);
constexpr auto second_quarter = static_cast<std::uint64_t>(0.76 * whole);
constexpr auto third_quarter = static_cast<std::uint64_t>(0.95 * whole);

/// A bijection of the numbers of `scale` bits: to multiply by an odd number and to fold high bits onto low ones both
/// are.
Vertex scrambled(std::uint64_t vertex, const Rmat& graph) {
  const std::uint64_t mask = graph.vertices() - 1;
  const int half = std::max(1, graph.scale / 2);
  for (int round = 0; round < 2; ++round) {
    vertex = (vertex * 0x9e3779b97f4a7c15U + graph.seed) & mask;
    vertex ^= vertex >> half;
  }
  return static_cast<Vertex>(vertex);
}

Edge edge(const Rmat& graph, std::uint64_t index) {
  std::uint64_t state = apps::mix(apps::mix(graph.seed) ^ index), from = 0, to = 0;
  for (int level = 0; level < graph.scale; ++level) {
    state = apps::mix(state);
    const std::uint64_t chance = state >> 32;
    from = 2 * from + (chance >= second_quarter ? 1 : 0);
    to = 2 * to + ((chance >= first_quarter && chance < second_quarter) || chance >= third_quarter ? 1 : 0);
  }
  return {scrambled(from, graph), scrambled(to, graph)};
}

}  // namespace

std::vector<Edge> draw(const Rmat& graph, std::uint64_t first, std::uint64_t count) {
  std::vector<Edge> edges;
  edges.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) edges.push_back(edge(graph, first + i));
  return edges;
}

}  // namespace lcc
