// The registry of what moves blocks. A new strategy is a file in schedule/blocks/strategies or schedule/graph, or a
// function of a family's file, and a row.
#include <algorithm>
#include <vector>

#include "base/nearest.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "schedule/blocks/families/digits.hpp"
#include "schedule/blocks/families/nodes.hpp"
#include "schedule/blocks/strategies/mixed_radix.hpp"
#include "schedule/blocks/strategies/node_mesh.hpp"
#include "schedule/blocks/strategies/node_servers.hpp"
#include "schedule/blocks/strategies/straight.hpp"
#include "schedule/graph/edge_routes.hpp"
#include "schedule/requirement.hpp"

namespace wherry::schedule {
namespace {

template <PlacesOf places>
using OnGrid = Digits<Grid, places>;
template <int radix>
using Bruck = Digits<Ring, bruck<radix>>;

// What a strategy asks of a graph.
constexpr OnGraph any_graph{straight, "any graph"};
constexpr std::string_view parallel = "several edges from one node to the same other one";

/// The row of a strategy for all-to-alls that takes other graphs too.
constexpr Strategy with_graphs(Strategy row, OnGraph on_graph) {
  row.on_graph = on_graph;
  return row;
}

constexpr Strategy of_blocks[] = {
    with_graphs(row<Rounds<rotation, all_at_once>>("direct", always,
                                                   "every block straight to its destination, all at once"),
                any_graph),
    row<Rounds<rotation, 16>>("direct16", eighteen_ranks, "straight, at most 16 messages under way"),
    row<Rounds<rotation, 4>>("direct4", six_ranks, "straight, at most 4 messages under way"),
    row<Rounds<rotation, in_phases>>("pairwise", three_ranks,
                                     "straight, in rounds: to rank + k, from rank - k"),
    row<Rounds<prefix, in_phases>>("pairwise_xor", four_ranks,
                                   "straight, in rounds: exchange with rank XOR k"),
    row<Rounds<node_pairs, in_phases>>("node_pairwise", shared_nodes,
                                       "straight; nodes meet two by two, links full both ways"),
    {.name = "rounds",
     .summary = "straight, in rounds: to one neighbor, from one",
     .hops = Hops::single,
     .on_graph = {in_rounds<1>, "a rank with 3 neighbors"}},
    {.name = "rounds4",
     .summary = "straight, four such rounds at a time",
     .hops = Hops::single,
     .on_graph = {in_rounds<4>, "a rank with 9 neighbors"}},
    row<OnGrid<mesh>>("mesh", four_ranks, "two hops over a grid of rows and columns"),
    row<OnGrid<grid3>>("grid3", five_ranks, "three hops over a 3-D grid"),
    row<OnGrid<hypercube>>("hypercube", five_ranks,
                           "one hop per binary digit of the rank, half the data in each"),
    {.name = "dimensions",
     .summary =
         "along the dimensions of the grid that fits the graph best, diagonals by way of straight ones",
     .hops = Hops::several,
     .on_graph = {along_dimensions, "a grid on which ranks send a third less messages"}},
    row<Bruck<2>>("bruck2", three_ranks, "one hop per binary digit of the distance"),
    row<Bruck<4>>("bruck4", five_ranks, "one hop per base-4 digit of the distance"),
    row<Bruck<8>>("bruck8", nine_ranks, "one hop per base-8 digit of the distance"),
    row<Bruck<16>>("bruck16", seventeen_ranks, "one hop per base-16 digit of the distance"),
    with_graphs(
        row<Nodes<leader>>("leader", shared_nodes, "one rank per node gathers, exchanges and hands out"),
        {across_nodes<leader>, parallel}),
    with_graphs(row<Nodes<shared_service>>("node_aware", shared_nodes,
                                           "one message per pair of nodes, shared among the ranks of a node"),
                {across_nodes<shared_service>, parallel}),
    row<NodeMesh>("node_mesh", shared_nodes, "within the node to the destination's local rank, then across"),
};

const Strategy* named(std::string_view name) {
  const auto* const found = std::ranges::find(of_blocks, name, &Strategy::name);
  return found == std::end(of_blocks) ? nullptr : found;
}

}  // namespace

std::span<const Strategy> block_strategies() { return of_blocks; }

const Strategy* find_strategy(std::string_view name) {
  const Strategy* const found = named(name);
  return found != nullptr && found->is_for_alltoalls() ? found : nullptr;
}

const Strategy* find_neighborhood_strategy(std::string_view name) {
  const Strategy* const found = named(name);
  return found != nullptr && found->is_for_graphs() ? found : nullptr;
}

std::string_view nearest_strategy(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Strategy& s : strategies()) known.push_back(s.name);
  return nearest(name, known);
}

}  // namespace wherry::schedule
