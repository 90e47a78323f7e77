// Reduce-scatter: rank r gets the reduction of what all ranks have in segment r.
#pragma once

#include "plan/segments/families/binomial.hpp"
#include "plan/segments/families/bruck.hpp"
#include "plan/segments/families/halving.hpp"
#include "plan/segments/families/ring.hpp"
#include "plan/segments/families/rotation.hpp"
#include "plan/segments/node_groups.hpp"
#include "plan/segments/parts.hpp"
#include "plan/segments/strategy.hpp"

namespace wherry::plan::segments {

inline void reduce_scatter_direct(SegmentBuilder& b, const Shape&, const Parameters&) {
  direct_reduce(b, Group::everyone(b), OneEach{b.size()});
}

inline void reduce_scatter_pairwise(SegmentBuilder& b, const Shape&, const Parameters&) {
  rotation_reduce(b, Group::everyone(b), OneEach{b.size()});
}

inline void reduce_scatter_ring(SegmentBuilder& b, const Shape&, const Parameters&) {
  ring_reduce(b, Group::everyone(b), OneEach{b.size()});
}

inline void reduce_scatter_bruck(SegmentBuilder& b, const Shape&, const Parameters&) {
  bruck_reduce(b, Group::everyone(b), OneEach{b.size()});
}

template <void (*halve)(SegmentBuilder&, const Fold&)>
void reduce_scatter_halving(SegmentBuilder& b, const Shape&, const Parameters&) {
  const Fold fold(Group::everyone(b));
  fold.combine(b);
  halve(b, fold);
  fold.give_back(b, OneEach{b.size()});
}

inline void reduce_scatter_by_node(SegmentBuilder& b, const Shape& shape, const Parameters&) {
  const NodeGroups nodes(shape, b.rank(), 0);
  binomial_up(b, nodes.node(), nodes.leader(), Whole{b.segments()}, Joining::combine);
  b.pass(nodes.local_steps());
  direct_reduce(b, nodes.leaders(), OfNodes{shape});
  b.pass(1);
  binomial_down(b, nodes.node(), nodes.leader(), OfMembers{nodes.members()});
}

}  // namespace wherry::plan::segments
