// Barrier: nobody leaves before all have entered. Its messages carry nothing.
#pragma once

#include "schedule/segments/families/binomial.hpp"
#include "schedule/segments/families/bruck_exchange.hpp"
#include "schedule/segments/group.hpp"
#include "schedule/segments/ownership.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule::segments {

inline void barrier_dissemination(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  disseminate(b, Group::everyone(b));
}

inline void barrier_binomial(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  const Group all = Group::everyone(b);
  binomial_up(b, all, 0, Whole{0}, Joining::collect);
  b.pass(ceil_log2(b.size()));
  binomial_down(b, all, 0, Whole{0});
}

inline void barrier_by_node(SegmentBuilder& b, const topology::Placement& placement, const Parameters&) {
  const NodeGroups nodes(placement, b.rank(), 0);
  binomial_up(b, nodes.node(), nodes.leader(), Whole{0}, Joining::collect);
  b.pass(nodes.local_steps());
  disseminate(b, nodes.leaders());
  b.pass(ceil_log2(placement.nodes()));
  binomial_down(b, nodes.node(), nodes.leader(), Whole{0});
}

}  // namespace wherry::schedule::segments
