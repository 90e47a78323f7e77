// The registry of what moves segments. A new strategy is one function in schedule/segments/strategies and one row here.
#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "schedule/requirement.hpp"
#include "schedule/segments/segment_strategy.hpp"
#include "schedule/segments/strategies/allreduce.hpp"
#include "schedule/segments/strategies/barrier.hpp"
#include "schedule/segments/strategies/bcast.hpp"
#include "schedule/segments/strategies/gather_scatter.hpp"
#include "schedule/segments/strategies/reduce.hpp"
#include "schedule/segments/strategies/reduce_scatter.hpp"

namespace wherry::schedule {
namespace {

using namespace segments;
using enum Operation;
using enum Ranks;

// ---- Where it applies.

bool is_power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }

bool on_power_of_two(const topology::Placement& placement) {
  return placement.size() >= 4 && is_power_of_two(placement.size());
}
bool on_even(const topology::Placement& placement) {
  return placement.size() >= 6 && placement.size() % 2 == 0;
}

constexpr Applies power_of_two{on_power_of_two, "a power of two of ranks, at least 4"};
constexpr Applies even{on_even, "an even number of ranks, at least 6"};

// ---- Into how many segments the buffer is cut.

int none(const topology::Placement&, const Parameters&) { return 0; }
int one(const topology::Placement&, const Parameters&) { return 1; }
int per_rank(const topology::Placement& placement, const Parameters&) { return placement.size(); }
int pipelined(const topology::Placement&, const Parameters& p) { return p.depth; }
int floor_power_of_two(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }
int per_folded(const topology::Placement& placement, const Parameters&) {
  return floor_power_of_two(placement.size());
}
int per_folded_node(const topology::Placement& placement, const Parameters&) {
  return floor_power_of_two(placement.nodes());
}

// ---- Whether reductions are in the order of ranks.

bool in_order(const topology::Placement&) { return true; }
bool reordered(const topology::Placement&) { return false; }
bool where_nodes_are_in_order(const topology::Placement& placement) {
  for (int rank = 1; rank < placement.size(); ++rank)
    if (placement.node_of(rank) < placement.node_of(rank - 1)) return false;
  return true;
}

int bruck_steps(const Group& group) { return ceil_log2(group.size()); }

// ---- The rows.

using Segments = int (*)(const topology::Placement&, const Parameters&);
using Add = void (*)(SegmentBuilder&, const topology::Placement&, const Parameters&);

constexpr SegmentStrategy moving(Operation operation, std::string_view name, Applies applies, Ranks ranks,
                                 Segments segments, Add add, std::string_view summary) {
  return {operation, name, summary, applies.to, applies.needs, segments, add, in_order, ranks};
}

constexpr SegmentStrategy reducing(Operation operation, std::string_view name, Applies applies, Ranks ranks,
                                   Segments segments, bool (*keeps_order)(const topology::Placement&),
                                   Add add, std::string_view summary) {
  return {operation, name, summary, applies.to, applies.needs, segments, add, keeps_order, ranks};
}

constexpr SegmentStrategy of_segments[] = {
    moving(allgather, "direct", always, alike, per_rank, allgather_by<rotation_collect>,
           "straight to everybody, all at once"),
    moving(allgather, "direct16", eighteen_ranks, alike, per_rank, allgather_by<rotation_collect, 16>,
           "straight to everybody, at most 16 messages under way"),
    moving(allgather, "ring", three_ranks, alike, per_rank, allgather_by<ring_collect>,
           "each segment around the ring (Thakur, Rabenseifner, Gropp 2005)"),
    moving(allgather, "neighbor_exchange", even, alike, per_rank, allgather_by<neighbor_collect>,
           "two segments at a time, with the two neighbors in turns (Chen et al. 2005)"),
    moving(allgather, "recursive_doubling", power_of_two, alike, per_rank, allgather_by<doubling_collect>,
           "exchange all that is known with rank XOR 2^k (Thakur, Rabenseifner, Gropp 2005)"),
    moving(allgather, "bruck", three_ranks, alike, per_rank, allgather_by<bruck_collect>,
           "all that is known to rank - 2^k (Bruck et al. 1997)"),
    moving(allgather, "mesh", four_ranks, alike, per_rank, allgather_by<mesh_collect>,
           "within the row, then rows within the column (Kale, Kumar, Varadarajan 2003)"),
    moving(allgather, "node_aware", shared_nodes, differ, per_rank,
           allgather_by_node<bruck_collect, bruck_steps>,
           "gather in the node, Bruck among leaders, broadcast in the node"),
    moving(allgather, "node_aware_ring", shared_nodes, differ, per_rank,
           allgather_by_node<ring_collect, ring_steps>,
           "gather in the node, ring of leaders, broadcast in the node"),

    moving(bcast, "linear", always, differ, one, bcast_linear, "the root to everybody, all at once"),
    moving(bcast, "binomial", four_ranks, differ, one, bcast_binomial,
           "twice as many ranks have it after each step"),
    moving(bcast, "knomial4", five_ranks, differ, one, bcast_knomial<4>,
           "four times as many ranks have it after each step"),
    moving(bcast, "scatter_ring", three_ranks, alike, per_rank, bcast_scatter_ring,
           "scatter by a binomial tree, then a ring (van de Geijn; Barnett et al. 1994)"),
    moving(bcast, "chain", three_ranks, differ, pipelined, bcast_chain,
           "pipelined from rank to rank, in `depth` segments"),
    moving(bcast, "binary_tree", four_ranks, differ, pipelined, bcast_binary_tree,
           "pipelined down a binary tree, in `depth` segments"),
    moving(bcast, "node_aware", shared_nodes, differ, one, bcast_by_node,
           "binomial among leaders, then within each node"),
    moving(bcast, "node_aware_linear", shared_nodes, differ, one, bcast_by_node_linear,
           "the root to all leaders at once, these to all of their nodes"),

    moving(gather, "linear", always, differ, per_rank, gather_linear, "everybody to the root, all at once"),
    moving(gather, "binomial", four_ranks, differ, per_rank, gather_binomial, "collected up a binomial tree"),
    moving(gather, "node_aware", shared_nodes, differ, per_rank, gather_by_node,
           "binomial within each node, then among leaders"),
    moving(gather, "node_aware_linear", shared_nodes, differ, per_rank, gather_by_node_linear,
           "all of a node to its leader at once, all leaders to the root"),

    moving(scatter, "linear", always, differ, per_rank, scatter_linear, "the root to everybody, all at once"),
    moving(scatter, "binomial", four_ranks, differ, per_rank, scatter_binomial,
           "handed down a binomial tree"),
    moving(scatter, "node_aware", shared_nodes, differ, per_rank, scatter_by_node,
           "binomial among leaders, then within each node"),
    moving(scatter, "node_aware_linear", shared_nodes, differ, per_rank, scatter_by_node_linear,
           "the root to all leaders at once, these to all of their nodes"),

    reducing(reduce, "linear", always, differ, one, in_order, reduce_linear,
             "everybody to the root, all at once"),
    reducing(reduce, "binomial", four_ranks, differ, one, in_order, reduce_binomial,
             "combined up a binomial tree"),
    reducing(reduce, "binary_tree", four_ranks, differ, pipelined, reordered, reduce_binary_tree,
             "pipelined up a binary tree, in `depth` segments"),
    reducing(reduce, "rabenseifner", four_ranks, differ, per_folded, in_order, reduce_halving,
             "reduce-scatter by halving, then gather (Rabenseifner 2004)"),
    reducing(reduce, "direct_gather", three_ranks, differ, per_rank, in_order, reduce_direct_gather,
             "each rank reduces a segment, all at once; then gather by a binomial tree"),
    reducing(reduce, "node_aware", shared_nodes, differ, one, where_nodes_are_in_order, reduce_by_node,
             "binomial within each node, then among leaders"),
    reducing(reduce, "node_aware_linear", shared_nodes, differ, one, where_nodes_are_in_order,
             reduce_by_node_linear, "all of a node to its leader at once, all leaders to the root"),

    reducing(allreduce, "direct", always, alike, one, in_order, allreduce_by<reduce_by_direct>,
             "everybody to everybody, all at once"),
    reducing(allreduce, "mesh", four_ranks, alike, one, in_order, allreduce_by<reduce_by_mesh>,
             "everybody to everybody in the row, then rows in the column"),
    reducing(allreduce, "recursive_doubling", three_ranks, differ, one, in_order,
             allreduce_by<reduce_by_doubling>,
             "exchange and combine all with rank XOR 2^k (Thakur, Rabenseifner, Gropp 2005)"),
    reducing(allreduce, "rabenseifner", four_ranks, differ, per_folded, in_order,
             allreduce_by<reduce_by_halving>,
             "reduce-scatter by halving, then allgather by doubling (Rabenseifner 2004)"),
    reducing(allreduce, "direct_bruck", three_ranks, alike, per_rank, in_order, allreduce_direct_bruck,
             "each rank reduces a segment, all at once; then a Bruck allgather"),
    reducing(allreduce, "bruck", three_ranks, differ, per_rank, reordered, allreduce_bruck,
             "a Bruck allgather backwards, combining, then forwards (Bernaschi, Iannello, Lauria 2003)"),
    reducing(allreduce, "ring", three_ranks, alike, per_rank, reordered, allreduce_ring,
             "reduce-scatter and allgather around the ring (Patarasuk, Yuan 2009)"),
    reducing(allreduce, "binary_tree", three_ranks, differ, pipelined, in_order, allreduce_binary_tree,
             "pipelined up and down a binary tree, in `depth` segments"),
    reducing(allreduce, "node_aware", shared_nodes, differ, one, where_nodes_are_in_order,
             allreduce_by_node<reduce_by_doubling>,
             "reduce in the node, recursive doubling among leaders, broadcast in the node"),
    reducing(allreduce, "node_aware_direct", shared_nodes, differ, one, where_nodes_are_in_order,
             allreduce_by_node<reduce_by_direct>,
             "reduce in the node, leaders to leaders all at once, broadcast in the node"),
    reducing(allreduce, "node_aware_mesh", shared_nodes, differ, one, where_nodes_are_in_order,
             allreduce_by_node<reduce_by_mesh>, "reduce in the node, mesh of leaders, broadcast in the node"),
    reducing(allreduce, "node_aware_rabenseifner", shared_nodes, differ, per_folded_node,
             where_nodes_are_in_order, allreduce_by_node<reduce_by_halving>,
             "reduce in the node, halving and doubling among leaders, broadcast in the node"),

    reducing(reduce_scatter, "direct", always, alike, per_rank, in_order, reduce_scatter_direct,
             "straight to where it is reduced, all at once"),
    reducing(reduce_scatter, "recursive_halving", three_ranks, differ, per_rank, reordered,
             reduce_scatter_halving<halving_scatter>,
             "half of what is left to rank XOR 2^k, the farthest first (Thakur, Rabenseifner, Gropp 2005)"),
    reducing(reduce_scatter, "recursive_halving_ordered", three_ranks, differ, per_rank, in_order,
             reduce_scatter_halving<halving_scatter_in_order>,
             "half of what is left to rank XOR 2^k, the nearest first: packed, but in rank order"),
    reducing(reduce_scatter, "bruck", three_ranks, differ, per_rank, reordered, reduce_scatter_bruck,
             "a Bruck allgather backwards, combining (Bernaschi, Iannello, Lauria 2003)"),
    reducing(reduce_scatter, "pairwise", three_ranks, alike, per_rank, reordered, reduce_scatter_pairwise,
             "straight, in rounds: to rank + k, from rank - k (Thakur, Rabenseifner, Gropp 2005)"),
    reducing(reduce_scatter, "ring", three_ranks, alike, per_rank, reordered, reduce_scatter_ring,
             "each segment around the ring, combined on its way (Patarasuk, Yuan 2009)"),
    reducing(reduce_scatter, "node_aware", shared_nodes, differ, per_rank, where_nodes_are_in_order,
             reduce_scatter_by_node,
             "reduce in the node, each leader gets its node's part, scatter in the node"),

    moving(barrier, "dissemination", always, alike, none, barrier_dissemination,
           "to rank + 2^k (Hensgen, Finkel, Manber 1988)"),
    moving(barrier, "binomial", three_ranks, differ, none, barrier_binomial,
           "up a binomial tree and down again"),
    moving(barrier, "node_aware", shared_nodes, differ, none, barrier_by_node,
           "up a tree in the node, dissemination among leaders, down again"),
};

constexpr std::string_view operation_names[] = {"allgather", "bcast",     "gather",         "scatter",
                                                "reduce",    "allreduce", "reduce_scatter", "barrier"};

}  // namespace

std::string_view name(Operation operation) { return operation_names[static_cast<std::size_t>(operation)]; }

bool has_root(Operation operation) {
  return operation == bcast || operation == gather || operation == scatter || operation == reduce;
}

bool reduces(Operation operation) {
  return operation == reduce || operation == allreduce || operation == reduce_scatter;
}

std::span<const SegmentStrategy> segment_strategies() { return of_segments; }

std::span<const SegmentStrategy> segment_strategies(Operation operation) {
  const auto mine = [=](const SegmentStrategy& s) { return s.operation == operation; };
  const auto* const first = std::find_if(std::begin(of_segments), std::end(of_segments), mine);
  return {first, std::find_if_not(first, std::end(of_segments), mine)};
}

const SegmentStrategy* find_strategy(Operation operation, std::string_view name) {
  const auto rows = segment_strategies(operation);
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const SegmentStrategy& s) { return s.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

bool is_pipelined(const SegmentStrategy& strategy) { return strategy.segments == pipelined; }

SegmentSchedule schedule(const SegmentStrategy& strategy, const topology::Placement& placement, int rank,
                         const Parameters& parameters) {
  require(0 <= rank && rank < placement.size(), "the rank is not one of the communicator's");
  require(0 <= parameters.root && parameters.root < placement.size(),
          "the root is not a rank of the communicator");
  require(parameters.depth >= 1, "a pipeline has at least one segment; raise depth to 1 or more");
  require(strategy.applies(placement), "the strategy does not apply to this placement; ask applies() first");
  SegmentBuilder builder(placement.size(), rank, strategy.segments(placement, parameters));
  strategy.add(builder, placement, parameters);
  return builder.finish();
}

std::vector<SegmentSchedule> schedules(const SegmentStrategy& strategy, const topology::Placement& placement,
                                       const Parameters& parameters) {
  std::vector<SegmentSchedule> all;
  all.reserve(static_cast<std::size_t>(placement.size()));
  for (int rank = 0; rank < placement.size(); ++rank)
    all.push_back(schedule(strategy, placement, rank, parameters));
  return all;
}

}  // namespace wherry::schedule
