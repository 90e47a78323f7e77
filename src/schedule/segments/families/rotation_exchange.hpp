// Rotation: P - 1 messages straight to their destination; the k-th goes k members on.
#pragma once

#include "schedule/arithmetic.hpp"
#include "schedule/segments/group.hpp"

namespace wherry::schedule::segments {

/// All at once, or as many as the builder's limit allows: both ends of a message have it at the same position.
template <class Parts>
void rotation_collect(SegmentBuilder& b, const Group& group, const Parts& parts) {
  const int size = group.size(), me = group.me();
  for (int k = 1; k < size; ++k) {
    const int from = wrap(me - k, size);
    b.send(0, group.rank(wrap(me + k, size)), parts.of(me, 1));
    b.receive(0, group.rank(from), parts.of(from, 1));
  }
}

/// Pairwise: one after the other, since each is combined with what is there.
template <class Parts>
void rotation_reduce(SegmentBuilder& b, const Group& group, const Parts& parts) {
  const int size = group.size(), me = group.me();
  for (int k = 1; k < size; ++k) {
    const int to = wrap(me + k, size);
    b.send(k - 1, group.rank(to), parts.of(to, 1));
    b.receive(k - 1, group.rank(wrap(me - k, size)), parts.of(me, 1), Action::combine_before);
  }
}

/// Calls visit(member, action) for all others as their data has to be received for every member to get the same
/// 0 op (1 op (2 op ...)): those after me from the last on, then those before me from the nearest on.
template <class Visit>
void for_others_in_order(int size, int me, Visit&& visit) {
  for (int other = size - 1; other > me + 1; --other) visit(other, Action::hold);
  if (me + 1 < size) visit(me + 1, Action::combine_after);
  for (int other = me - 1; other >= 0; --other) visit(other, Action::combine_before);
}

/// All at once, in the order of members: the parts of everybody go straight to the member whose they are.
template <class Parts>
void direct_reduce(SegmentBuilder& b, const Group& group, const Parts& parts) {
  if (!group.takes_part()) return;
  const int size = group.size(), me = group.me();
  for (int k = 1; k < size; ++k) {
    const int to = wrap(me + k, size);
    b.send(0, group.rank(to), parts.of(to, 1));
  }
  for_others_in_order(
      size, me, [&](int other, Action action) { b.receive(0, group.rank(other), parts.of(me, 1), action); });
}

}  // namespace wherry::schedule::segments
