// Reduce-scatter: rank r gets the reduction of what all ranks have in segment r.
#pragma once

#include "schedule/segments/families/binomial.hpp"
#include "schedule/segments/families/bruck_exchange.hpp"
#include "schedule/segments/families/doubling.hpp"
#include "schedule/segments/families/ring.hpp"
#include "schedule/segments/families/rotation_exchange.hpp"
#include "schedule/segments/group.hpp"
#include "schedule/segments/ownership.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule::segments {

inline void reduce_scatter_direct(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  direct_reduce(b, Group::everyone(b), OneEach{b.size()});
}

inline void reduce_scatter_pairwise(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  rotation_reduce(b, Group::everyone(b), OneEach{b.size()});
}

inline void reduce_scatter_ring(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  ring_reduce(b, Group::everyone(b), OneEach{b.size()});
}

inline void reduce_scatter_bruck(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  bruck_reduce(b, Group::everyone(b), OneEach{b.size()});
}

template <void (*halve)(SegmentBuilder&, const Fold&)>
void reduce_scatter_halving(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  const Fold fold(Group::everyone(b));
  fold.combine(b);
  halve(b, fold);
  fold.give_back(b, OneEach{b.size()});
}

inline void reduce_scatter_by_node(SegmentBuilder& b, const topology::Placement& placement,
                                   const Parameters&) {
  const NodeGroups nodes(placement, b.rank(), 0);
  binomial_up(b, nodes.node(), nodes.leader(), Whole{b.segments()}, Joining::combine);
  b.pass(nodes.local_steps());
  direct_reduce(b, nodes.leaders(), OfNodes{placement});
  b.pass(1);
  binomial_down(b, nodes.node(), nodes.leader(), OfMembers{nodes.members()});
}

}  // namespace wherry::schedule::segments
