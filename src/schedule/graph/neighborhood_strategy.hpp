// The registry of strategies for neighborhood collectives: a table that can be read.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/blocks/block_strategy.hpp"
#include "schedule/blocks/route.hpp"
#include "schedule/graph/graph.hpp"
#include "schedule/schedule.hpp"
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
  /// Looks at the whole graph once; what it returns refers to graph and placement. Empty where the strategy makes no
  /// sense.
  RouteOfEdge (*routes)(const Graph& graph, const topology::Placement& placement);
  std::string_view needs;  // what routes() asks for
};

/// All strategies, in a fixed order.
std::span<const NeighborhoodStrategy> neighborhood_strategies();

/// The strategy of that name, or nullptr.
const NeighborhoodStrategy* find_neighborhood_strategy(std::string_view name);

/// A strategy on a graph: the schedules of its ranks (routed.cpp).
///
/// Routes every edge once, so that the schedule of a rank takes no longer than its own edges do. Refers to graph and
/// placement.
class Routed {
 public:
  Routed(const NeighborhoodStrategy& strategy, const Graph& graph, const topology::Placement& placement);

  bool applies() const { return static_cast<bool>(route_); }
  /// Only if it applies, as all that follows.
  Schedule schedule(int rank) const;
  std::vector<Schedule> schedules() const;
  /// No rank's Schedule::slots is larger, nor are, if blocks move several times, the items of one phase more.
  int most_slots() const { return most_slots_; }

 private:
  const Graph& graph_;
  const topology::Placement& placement_;
  RouteOfEdge route_;
  std::vector<std::vector<int>> touching_;  // by rank: the numbers of the edges that come by
  int most_slots_ = 0;
};

/// Proves that a strategy performs the neighborhood collective of a graph: throws schedule_error unless every edge's
/// block, and no other, arrives exactly once (schedule/blocks/block_verify.hpp has all that is asked of schedules), and
/// no rank uses more slots than promised. routed: one that applies.
void verify(const Routed& routed, const Graph& graph);

}  // namespace wherry::schedule
