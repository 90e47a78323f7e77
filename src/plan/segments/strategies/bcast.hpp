// Broadcast: the root has all segments; in the end everybody has.
#pragma once

#include "plan/segments/families/binary_tree.hpp"
#include "plan/segments/families/binomial.hpp"
#include "plan/segments/families/chain.hpp"
#include "plan/segments/families/knomial.hpp"
#include "plan/segments/families/ring.hpp"
#include "plan/segments/families/star.hpp"
#include "plan/segments/node_groups.hpp"
#include "plan/segments/parts.hpp"
#include "plan/segments/strategy.hpp"

namespace wherry::plan::segments {

inline void bcast_linear(SegmentBuilder& b, const Shape&, const Parameters& p) {
  star_down(b, Group::everyone(b), p.root, Whole{b.segments()});
}

inline void bcast_binomial(SegmentBuilder& b, const Shape&, const Parameters& p) {
  binomial_down(b, Group::everyone(b), p.root, Whole{b.segments()});
}

template <int radix>
void bcast_knomial(SegmentBuilder& b, const Shape&, const Parameters& p) {
  knomial_down(b, Group::everyone(b), p.root, radix, Whole{b.segments()});
}

inline void bcast_scatter_ring(SegmentBuilder& b, const Shape&, const Parameters& p) {
  const Group all = Group::everyone(b);
  binomial_down(b, all, p.root, OneEach{b.size()});
  b.pass(ceil_log2(b.size()));
  ring_collect(b, all, OneEach{b.size()});
}

inline void bcast_chain(SegmentBuilder& b, const Shape&, const Parameters& p) {
  chain_down(b, Group::everyone(b), p.root);
}

inline void bcast_binary_tree(SegmentBuilder& b, const Shape&, const Parameters& p) {
  BinaryTree(Group::everyone(b), p.root).down(b);
}

inline void bcast_by_node(SegmentBuilder& b, const Shape& shape, const Parameters& p) {
  const NodeGroups nodes(shape, b.rank(), p.root);
  binomial_down(b, nodes.leaders(), nodes.root(), Whole{b.segments()});
  b.pass(ceil_log2(shape.nodes()));
  binomial_down(b, nodes.node(), nodes.leader(), Whole{b.segments()});
}

inline void bcast_by_node_linear(SegmentBuilder& b, const Shape& shape, const Parameters& p) {
  const NodeGroups nodes(shape, b.rank(), p.root);
  star_down(b, nodes.leaders(), nodes.root(), Whole{b.segments()});
  b.pass(1);
  star_down(b, nodes.node(), nodes.leader(), Whole{b.segments()});
}

}  // namespace wherry::plan::segments
