// Gather: rank r has segment r; in the end the root has all. Scatter: the same messages the other way round.
#pragma once

#include "schedule/segments/families/binomial.hpp"
#include "schedule/segments/families/star.hpp"
#include "schedule/segments/group.hpp"
#include "schedule/segments/ownership.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule::segments {

inline void gather_linear(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  star_up(b, Group::everyone(b), p.root, OneEach{b.size()});
}

inline void scatter_linear(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  star_down(b, Group::everyone(b), p.root, OneEach{b.size()});
}

inline void gather_binomial(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  binomial_up(b, Group::everyone(b), p.root, OneEach{b.size()}, Joining::collect);
}

inline void scatter_binomial(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  binomial_down(b, Group::everyone(b), p.root, OneEach{b.size()});
}

inline void gather_by_node(SegmentBuilder& b, const topology::Placement& placement, const Parameters& p) {
  const NodeGroups nodes(placement, b.rank(), p.root);
  binomial_up(b, nodes.node(), nodes.leader(), OfMembers{nodes.members()}, Joining::collect);
  b.pass(nodes.local_steps());
  binomial_up(b, nodes.leaders(), nodes.root(), OfNodes{placement}, Joining::collect);
}

inline void scatter_by_node(SegmentBuilder& b, const topology::Placement& placement, const Parameters& p) {
  const NodeGroups nodes(placement, b.rank(), p.root);
  binomial_down(b, nodes.leaders(), nodes.root(), OfNodes{placement});
  b.pass(ceil_log2(placement.nodes()));
  binomial_down(b, nodes.node(), nodes.leader(), OfMembers{nodes.members()});
}

inline void gather_by_node_linear(SegmentBuilder& b, const topology::Placement& placement,
                                  const Parameters& p) {
  const NodeGroups nodes(placement, b.rank(), p.root);
  star_up(b, nodes.node(), nodes.leader(), OfMembers{nodes.members()});
  b.pass(1);
  star_up(b, nodes.leaders(), nodes.root(), OfNodes{placement});
}

inline void scatter_by_node_linear(SegmentBuilder& b, const topology::Placement& placement,
                                   const Parameters& p) {
  const NodeGroups nodes(placement, b.rank(), p.root);
  star_down(b, nodes.leaders(), nodes.root(), OfNodes{placement});
  b.pass(1);
  star_down(b, nodes.node(), nodes.leader(), OfMembers{nodes.members()});
}

}  // namespace wherry::schedule::segments
