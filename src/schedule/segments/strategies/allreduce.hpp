// Allreduce: everybody gets the reduction of what all ranks have, combined in one and the same way on all ranks.
#pragma once

#include "schedule/segments/families/binomial.hpp"
#include "schedule/segments/families/bruck_exchange.hpp"
#include "schedule/segments/families/doubling.hpp"
#include "schedule/segments/families/mesh_exchange.hpp"
#include "schedule/segments/families/pipelined_trees.hpp"
#include "schedule/segments/families/ring.hpp"
#include "schedule/segments/families/rotation_exchange.hpp"
#include "schedule/segments/group.hpp"
#include "schedule/segments/ownership.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule::segments {

/// An algorithm for it in a group; takes the same steps whoever takes part.
using ReduceForAll = void (*)(SegmentBuilder&, const Group&);

inline void reduce_by_doubling(SegmentBuilder& b, const Group& group) {
  const Fold fold(group);
  fold.combine(b);
  doubling_reduce(b, fold);
  fold.give_back(b, Whole{b.segments()});
}

/// The buffer has as many segments as the folded group has members.
inline void reduce_by_halving(SegmentBuilder& b, const Group& group) {
  const Fold fold(group);
  fold.combine(b);
  const Halving halving(fold);
  halving.reduce(b);
  halving.collect(b);
  fold.give_back(b, Whole{b.segments()});
}

inline void reduce_by_direct(SegmentBuilder& b, const Group& group) {
  direct_reduce(b, group, Whole{b.segments()});
  b.pass(1);
}

inline void reduce_by_mesh(SegmentBuilder& b, const Group& group) {
  mesh_reduce(b, group);
  b.pass(mesh_steps);
}

template <ReduceForAll reduce>
void allreduce_by(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  reduce(b, Group::everyone(b));
}

/// As many bytes as Rabenseifner's, and in order, but no rank has to be folded away.
inline void allreduce_direct_bruck(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  const Group all = Group::everyone(b);
  direct_reduce(b, all, OneEach{b.size()});
  b.pass(1);
  bruck_collect(b, all, OneEach{b.size()});
}

inline void allreduce_bruck(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  const Group all = Group::everyone(b);
  bruck_reduce(b, all, OneEach{b.size()});
  b.pass(ceil_log2(b.size()));
  bruck_collect(b, all, OneEach{b.size()});
}

inline void allreduce_ring(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  const Group all = Group::everyone(b);
  ring_reduce(b, all, OneEach{b.size()});
  b.pass(ring_steps(all));
  ring_collect(b, all, OneEach{b.size()});
}

/// A segment goes down while those behind it still come up.
inline void allreduce_binary_tree(SegmentBuilder& b, const topology::Placement&, const Parameters&) {
  const Group all = Group::everyone(b);
  const BinaryTree tree(all, BinaryTree::unturned_root(all));
  tree.up(b);
  b.pass(tree.deepest());
  tree.down(b);
}

template <ReduceForAll reduce>
void allreduce_by_node(SegmentBuilder& b, const topology::Placement& placement, const Parameters&) {
  const NodeGroups nodes(placement, b.rank(), 0);
  binomial_up(b, nodes.node(), nodes.leader(), Whole{b.segments()}, Joining::combine);
  b.pass(nodes.local_steps());
  reduce(b, nodes.leaders());
  binomial_down(b, nodes.node(), nodes.leader(), Whole{b.segments()});
}

}  // namespace wherry::schedule::segments
