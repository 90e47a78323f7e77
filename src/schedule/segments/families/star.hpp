// Star: the root exchanges one message with every other member, all at once. P - 1 messages at the root, one step; who
// is not a member has nothing to do.
#pragma once

#include "schedule/arithmetic.hpp"
#include "schedule/segments/families/rotation_exchange.hpp"
#include "schedule/segments/group.hpp"

namespace wherry::schedule::segments {

/// Calls visit(member) for all others, starting behind `from`.
template <class Visit>
void for_others(const Group& group, int from, Visit&& visit) {
  for (int k = 1; k < group.size(); ++k) visit(wrap(from + k, group.size()));
}

template <class Parts>
void star_up(SegmentBuilder& b, const Group& group, int root, const Parts& parts) {
  if (!group.takes_part()) return;
  const int me = group.me();
  if (me != root) return b.send(0, group.rank(root), parts.of(me, 1));
  for_others(group, root, [&](int other) { b.receive(0, group.rank(other), parts.of(other, 1)); });
}

/// Combines all segments at the root, in the order of members.
inline void star_reduce(SegmentBuilder& b, const Group& group, int root) {
  if (!group.takes_part()) return;
  const Ranges all(0, b.segments());
  if (group.me() != root) return b.send(0, group.rank(root), all);
  for_others_in_order(group.size(), root,
                      [&](int other, Action action) { b.receive(0, group.rank(other), all, action); });
}

template <class Parts>
void star_down(SegmentBuilder& b, const Group& group, int root, const Parts& parts) {
  if (!group.takes_part()) return;
  const int me = group.me();
  if (me != root) return b.receive(0, group.rank(root), parts.of(me, 1));
  for_others(group, root, [&](int other) { b.send(0, group.rank(other), parts.of(other, 1)); });
}

}  // namespace wherry::schedule::segments
