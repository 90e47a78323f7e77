// The registry of strategies for neighborhood collectives: a table that can be read.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "schedule/blocks/block_strategy.hpp"
#include "schedule/blocks/route.hpp"
#include "schedule/graph/graph.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

/// Where an edge of the graph goes; `number` is its number there. Pure: every rank computes the same.
///
/// The phases of routes become phases of schedules one by one. A strategy of a single hop may have edges of one
/// rank share a phase or not, as it likes: phases are the same for all, so nothing can deadlock.
using RouteOfEdge = std::function<Route(Block edge, int number)>;

/// One algorithm of a neighborhood collective in which every edge has data of its own.
struct NeighborhoodStrategy {
  std::string_view name;
  std::string_view summary;  // one line for `wherry explain`
  Hops hops;
  /// Looks at the whole graph once; what it returns refers to graph and placement. Empty where the strategy makes no sense.
  RouteOfEdge (*routes)(const Graph& graph, const topology::Placement& placement);
  std::string_view needs;  // what routes() asks for
};

/// All strategies, in a fixed order.
std::span<const NeighborhoodStrategy> neighborhood_strategies();

/// The strategy of that name, or nullptr.
const NeighborhoodStrategy* find_neighborhood_strategy(std::string_view name);

}  // namespace wherry::schedule
