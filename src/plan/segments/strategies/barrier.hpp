// Barrier: nobody leaves before all have entered. Its messages carry nothing.
#pragma once

#include "plan/segments/families/binomial.hpp"
#include "plan/segments/families/bruck.hpp"
#include "plan/segments/node_groups.hpp"
#include "plan/segments/parts.hpp"
#include "plan/segments/strategy.hpp"

namespace wherry::plan::segments {

inline void barrier_dissemination(SegmentBuilder& b, const Shape&, const Parameters&) {
  disseminate(b, Group::everyone(b));
}

inline void barrier_binomial(SegmentBuilder& b, const Shape&, const Parameters&) {
  const Group all = Group::everyone(b);
  binomial_up(b, all, 0, Whole{0}, Joining::collect);
  b.pass(ceil_log2(b.size()));
  binomial_down(b, all, 0, Whole{0});
}

inline void barrier_by_node(SegmentBuilder& b, const Shape& shape, const Parameters&) {
  const NodeGroups nodes(shape, b.rank(), 0);
  binomial_up(b, nodes.node(), nodes.leader(), Whole{0}, Joining::collect);
  b.pass(nodes.local_steps());
  disseminate(b, nodes.leaders());
  b.pass(ceil_log2(shape.nodes()));
  binomial_down(b, nodes.node(), nodes.leader(), Whole{0});
}

}  // namespace wherry::plan::segments
