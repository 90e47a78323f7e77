// The registry. A new strategy is one file here and one row.
#include <algorithm>

#include "schedule/blocks/strategies/node_servers.hpp"
#include "schedule/graph/edge_routes.hpp"

namespace wherry::schedule {
namespace {

RouteOfEdge straight(const Graph&, const topology::Placement&) {
  return [](Block edge, int) { return Route{{0, edge.destination}}; };
}

constexpr std::string_view parallel = "several edges from one node to the same other one";

constexpr NeighborhoodStrategy table[] = {
    {"direct", "one message to each neighbor, all at once", Hops::single, straight, "any graph"},
    {"rounds", "straight, in rounds: to one neighbor, from one", Hops::single, in_rounds<1>,
     "a rank with 3 neighbors"},
    {"rounds4", "straight, four such rounds at a time", Hops::single, in_rounds<4>,
     "a rank with 9 neighbors"},
    {"dimensions",
     "along the dimensions of the grid that fits the graph best, diagonals by way of straight ones",
     Hops::several, along_dimensions, "a grid on which ranks send a third less messages"},
    {"leader", "one rank per node gathers, exchanges and hands out", Hops::several, across_nodes<leader>,
     parallel},
    {"node_aware", "one message per pair of nodes, shared among the ranks of a node", Hops::several,
     across_nodes<shared_service>, parallel},
};

}  // namespace

std::span<const NeighborhoodStrategy> neighborhood_strategies() { return table; }

const NeighborhoodStrategy* find_neighborhood_strategy(std::string_view name) {
  const auto* const found = std::ranges::find(table, name, &NeighborhoodStrategy::name);
  return found == std::end(table) ? nullptr : found;
}

}  // namespace wherry::schedule
