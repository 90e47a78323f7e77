// Gather: rank r has segment r; in the end the root has all. Scatter: the same messages the other way round.
// Allgather: in the end everybody has all.
#pragma once

#include "schedule/segments/families/binomial.hpp"
#include "schedule/segments/families/bruck_exchange.hpp"
#include "schedule/segments/families/doubling.hpp"
#include "schedule/segments/families/mesh_exchange.hpp"
#include "schedule/segments/families/ring.hpp"
#include "schedule/segments/families/rotation_exchange.hpp"
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

// ---- Allgather ----

/// A family that collects the segment of every rank at every rank.
using Collect = void (*)(SegmentBuilder&, const Group&, const OneEach&);

template <Collect collect, int window = 0>
void allgather_by(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  b.limit(window);
  collect(b, Group::everyone(b), OneEach{b.size()});
}

/// How the leaders of nodes exchange what their nodes have.
using CollectNodes = void (*)(SegmentBuilder&, const Group&, const OfNodes&);

template <CollectNodes collect, int (*steps)(const Group&)>
void allgather_by_node(SegmentBuilder& b, const topology::Placement& placement, const Parameters&) {
  const NodeGroups nodes(placement, b.rank(), 0);
  binomial_up(b, nodes.node(), nodes.leader(), OfMembers{nodes.members()}, Joining::collect);
  b.pass(nodes.local_steps());
  collect(b, nodes.leaders(), OfNodes{placement});
  b.pass(steps(nodes.leaders()));
  binomial_down(b, nodes.node(), nodes.leader(), Whole{b.segments()});
}

}  // namespace wherry::schedule::segments
