// Allgather: rank r has segment r; in the end everybody has all.
#pragma once

#include "plan/segments/families/binomial.hpp"
#include "plan/segments/families/bruck.hpp"
#include "plan/segments/families/doubling.hpp"
#include "plan/segments/families/mesh.hpp"
#include "plan/segments/families/neighbours.hpp"
#include "plan/segments/families/ring.hpp"
#include "plan/segments/families/rotation.hpp"
#include "plan/segments/node_groups.hpp"
#include "plan/segments/parts.hpp"
#include "plan/segments/strategy.hpp"

namespace wherry::plan::segments {

/// A family that collects the segment of every rank at every rank.
using Collect = void (*)(SegmentBuilder&, const Group&, const OneEach&);

template <Collect collect, int window = 0>
void allgather_by(SegmentBuilder& b, const Shape&, const Parameters&) {
  b.limit(window);
  collect(b, Group::everyone(b), OneEach{b.size()});
}

/// How the leaders of nodes exchange what their nodes have.
using CollectNodes = void (*)(SegmentBuilder&, const Group&, const OfNodes&);

template <CollectNodes collect, int (*steps)(const Group&)>
void allgather_by_node(SegmentBuilder& b, const Shape& shape, const Parameters&) {
  const NodeGroups nodes(shape, b.rank(), 0);
  binomial_up(b, nodes.node(), nodes.leader(), OfMembers{nodes.members()}, Joining::collect);
  b.pass(nodes.local_steps());
  collect(b, nodes.leaders(), OfNodes{shape});
  b.pass(steps(nodes.leaders()));
  binomial_down(b, nodes.node(), nodes.leader(), Whole{b.segments()});
}

}  // namespace wherry::plan::segments
