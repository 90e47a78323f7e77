#include "tuning/neighborhood_candidates.hpp"

#include <algorithm>

#include "model/cost.hpp"
#include "schedule/graph/neighborhood_strategy.hpp"

namespace wherry::tuning {

std::vector<AlgorithmCandidate> survey(const schedule::Graph& graph, const topology::Placement& placement) {
  std::vector<AlgorithmCandidate> candidates;
  for (const schedule::NeighborhoodStrategy& strategy : schedule::neighborhood_strategies()) {
    const schedule::Routed routed(strategy, graph, placement);
    if (routed.applies())
      candidates.push_back(
          {schedule::Algorithm{.neighbors = &strategy}, model::traffic(routed, placement), 0});
  }
  return candidates;
}

bool is_promising(const schedule::Graph& graph, const topology::Placement& placement) {
  constexpr int few_neighbors = 8;
  const auto crosses = [&](const schedule::Block& edge) {
    return !placement.same_node(edge.origin, edge.destination);
  };
  return graph.most_neighbors() > few_neighbors || std::ranges::any_of(graph.edges(), crosses);
}

}  // namespace wherry::tuning
