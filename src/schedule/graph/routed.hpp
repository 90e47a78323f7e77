// A strategy on a graph: the schedules of its ranks.
#pragma once

#include <vector>

#include "schedule/blocks/block_strategy.hpp"
#include "schedule/graph/graph.hpp"
#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

/// Routes every edge once, so that the schedule of a rank takes no longer than its own edges do. Refers to graph and
/// placement.
class Routed {
 public:
  /// strategy: one that is for graphs.
  Routed(const Strategy& strategy, const Graph& graph, const topology::Placement& placement);

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
