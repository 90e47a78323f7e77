#include "choose/neighbours.hpp"

#include <algorithm>

#include "plan/neighbours/routed.hpp"

namespace wherry::choose {

std::vector<Offer> survey(const plan::Graph& graph, const plan::Shape& shape) {
  std::vector<Offer> offers;
  for (const plan::NeighbourStrategy& strategy : plan::neighbour_strategies()) {
    const plan::Routed routed(strategy, graph, shape);
    if (routed.applies()) offers.push_back({Way{.neighbours = &strategy}, routed.traffic(), 0});
  }
  return offers;
}

bool is_promising(const plan::Graph& graph, const plan::Shape& shape) {
  constexpr int few_neighbours = 8;
  const auto crosses = [&](const plan::Block& edge) {
    return !shape.same_node(edge.origin, edge.destination);
  };
  return graph.most_neighbours() > few_neighbours || std::ranges::any_of(graph.edges(), crosses);
}

}  // namespace wherry::choose
