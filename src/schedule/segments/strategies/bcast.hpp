// Broadcast: the root has all segments; in the end everybody has. The algorithms' exchanges are those of ../families,
// which other collectives share.
#pragma once

#include "schedule/segments/families/binomial.hpp"
#include "schedule/segments/families/pipelined_trees.hpp"
#include "schedule/segments/families/ring.hpp"
#include "schedule/segments/families/star.hpp"
#include "schedule/segments/group.hpp"
#include "schedule/segments/ownership.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule::segments {

inline void bcast_linear(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  star_down(b, Group::everyone(b), p.root, Whole{b.segments()});
}

inline void bcast_binomial(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  binomial_down(b, Group::everyone(b), p.root, Whole{b.segments()});
}

template <int radix>
void bcast_knomial(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  knomial_down(b, Group::everyone(b), p.root, radix, Whole{b.segments()});
}

inline void bcast_scatter_ring(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  const Group all = Group::everyone(b);
  binomial_down(b, all, p.root, OneEach{b.size()});
  b.pass(ceil_log2(b.size()));
  ring_collect(b, all, OneEach{b.size()});
}

inline void bcast_chain(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  chain_down(b, Group::everyone(b), p.root);
}

inline void bcast_binary_tree(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  BinaryTree(Group::everyone(b), p.root).down(b);
}

inline void bcast_by_node(SegmentBuilder& b, const topology::Placement& placement, const Parameters& p) {
  const NodeGroups nodes(placement, b.rank(), p.root);
  binomial_down(b, nodes.leaders(), nodes.root(), Whole{b.segments()});
  b.pass(ceil_log2(placement.nodes()));
  binomial_down(b, nodes.node(), nodes.leader(), Whole{b.segments()});
}

inline void bcast_by_node_linear(SegmentBuilder& b, const topology::Placement& placement,
                                 const Parameters& p) {
  const NodeGroups nodes(placement, b.rank(), p.root);
  star_down(b, nodes.leaders(), nodes.root(), Whole{b.segments()});
  b.pass(1);
  star_down(b, nodes.node(), nodes.leader(), Whole{b.segments()});
}

}  // namespace wherry::schedule::segments
