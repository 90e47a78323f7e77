#include "tuning/neighborhood_candidates.hpp"

#include <algorithm>

#include "model/graph_cost.hpp"
#include "schedule/graph/routed.hpp"

namespace wherry::tuning {

std::vector<Offer> survey(const schedule::Graph& graph, const topology::Placement& placement) {
  std::vector<Offer> offers;
  for (const schedule::NeighbourStrategy& strategy : schedule::neighbour_strategies()) {
    const schedule::Routed routed(strategy, graph, placement);
    if (routed.applies())
      offers.push_back({schedule::Algorithm{.neighbours = &strategy}, model::traffic(routed, placement), 0});
  }
  return offers;
}

bool is_promising(const schedule::Graph& graph, const topology::Placement& placement) {
  constexpr int few_neighbours = 8;
  const auto crosses = [&](const schedule::Block& edge) {
    return !placement.same_node(edge.origin, edge.destination);
  };
  return graph.most_neighbours() > few_neighbours || std::ranges::any_of(graph.edges(), crosses);
}

}  // namespace wherry::tuning
