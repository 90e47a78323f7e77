// Reduce: the root gets the reduction of what all ranks have.
#pragma once

#include "schedule/segments/families/binomial.hpp"
#include "schedule/segments/families/doubling.hpp"
#include "schedule/segments/families/pipelined_trees.hpp"
#include "schedule/segments/families/rotation_exchange.hpp"
#include "schedule/segments/families/star.hpp"
#include "schedule/segments/group.hpp"
#include "schedule/segments/ownership.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule::segments {

inline void reduce_linear(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  star_reduce(b, Group::everyone(b), p.root);
}

inline void reduce_binomial(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  binomial_up(b, Group::everyone(b), p.root, Whole{b.segments()}, Joining::combine);
}

inline void reduce_halving(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  const Fold fold(Group::everyone(b), p.root);
  fold.combine(b);
  const Halving halving(fold);
  halving.reduce(b);
  halving.collect_at(b, fold.folded(p.root));
}

/// As many bytes as Rabenseifner's, and in order, but no rank has to be folded away.
inline void reduce_direct_gather(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  const Group all = Group::everyone(b);
  direct_reduce(b, all, OneEach{b.size()});
  b.pass(1);
  binomial_up(b, all, p.root, OneEach{b.size()}, Joining::collect);
}

inline void reduce_binary_tree(SegmentBuilder& b, const topology::Placement&, const Parameters& p) {
  BinaryTree(Group::everyone(b), p.root).up(b);
}

inline void reduce_by_node(SegmentBuilder& b, const topology::Placement& placement, const Parameters& p) {
  const NodeGroups nodes(placement, b.rank(), p.root);
  binomial_up(b, nodes.node(), nodes.leader(), Whole{b.segments()}, Joining::combine);
  b.pass(nodes.local_steps());
  binomial_up(b, nodes.leaders(), nodes.root(), Whole{b.segments()}, Joining::combine);
}

inline void reduce_by_node_linear(SegmentBuilder& b, const topology::Placement& placement,
                                  const Parameters& p) {
  const NodeGroups nodes(placement, b.rank(), p.root);
  star_reduce(b, nodes.node(), nodes.leader());
  b.pass(1);
  star_reduce(b, nodes.leaders(), nodes.root());
}

}  // namespace wherry::schedule::segments
