#include "schedule/graph/edge_routes.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/arithmetic.hpp"

namespace wherry::schedule {
namespace {

/// Which rounds a rank has in use, on one side.
using Used = std::vector<bool>;

bool is_free(const Used& used, std::size_t round) { return round >= used.size() || !used[round]; }

void take(Used& used, std::size_t round) {
  if (round >= used.size()) used.resize(round + 1, false);
  used[round] = true;
}

std::vector<int> by_distance(const Graph& graph) {
  const auto distance = [&](int number) {
    const Block edge = graph.edges()[static_cast<std::size_t>(number)];
    return wrap(edge.destination - edge.origin, graph.size());
  };
  std::vector<int> order(graph.edges().size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, distance);
  return order;
}

}  // namespace

std::vector<int> rounds_of(const Graph& graph) {
  std::vector<int> rounds(graph.edges().size());
  std::vector<Used> sending(static_cast<std::size_t>(graph.size())), receiving(sending);
  for (const int number : by_distance(graph)) {
    const Block edge = graph.edges()[static_cast<std::size_t>(number)];
    Used& out = sending[static_cast<std::size_t>(edge.origin)];
    Used& in = receiving[static_cast<std::size_t>(edge.destination)];
    std::size_t round = 0;
    while (!is_free(out, round) || !is_free(in, round)) ++round;
    take(out, round);
    take(in, round);
    rounds[static_cast<std::size_t>(number)] = static_cast<int>(round);
  }
  return rounds;
}

}  // namespace wherry::schedule
