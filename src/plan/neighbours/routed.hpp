// A strategy on a graph: the schedules of its ranks.
#pragma once

#include <vector>

#include "plan/cost.hpp"
#include "plan/neighbours/strategy.hpp"
#include "plan/schedule.hpp"

namespace wherry::plan {

/// Routes every edge once, so that the schedule of a rank takes no longer than its own edges do. Refers to graph and shape.
class Routed {
 public:
  Routed(const NeighbourStrategy& strategy, const Graph& graph, const Shape& shape);

  bool applies() const { return static_cast<bool>(route_); }
  /// Only if it applies, as all that follows.
  Schedule schedule(int rank) const;
  std::vector<Schedule> schedules() const;
  /// No rank's Schedule::slots is larger, nor are, if blocks move several times, the items of one phase more.
  int most_slots() const { return most_slots_; }
  Traffic traffic() const;

 private:
  const Graph& graph_;
  const Shape& shape_;
  RouteOfEdge route_;
  std::vector<std::vector<int>> touching_;  // by rank: the numbers of the edges that come by
  int most_slots_ = 0;
};

}  // namespace wherry::plan
