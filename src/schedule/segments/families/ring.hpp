// Ring: P - 1 steps, each a message to the next member and one from the previous; no byte moves twice over a link.
#pragma once

#include "schedule/arithmetic.hpp"
#include "schedule/segments/group.hpp"

namespace wherry::schedule::segments {

inline int ring_steps(const Group& group) { return group.size() - 1; }

/// Everybody's part goes all the way round.
template <class Parts>
void ring_collect(SegmentBuilder& b, const Group& group, const Parts& parts) {
  if (!group.takes_part()) return;
  const int size = group.size(), me = group.me();
  const int next = group.rank(wrap(me + 1, size)), previous = group.rank(wrap(me - 1, size));
  for (int step = 0; step < ring_steps(group); ++step) {
    b.send(step, next, parts.of(wrap(me - step, size), 1));
    b.receive(step, previous, parts.of(wrap(me - step - 1, size), 1));
  }
}

/// Part p starts at member p + 1, is combined with that of each member that it meets, and ends at member p.
/// So members are combined in the order of the ring from p + 1, which is not that of the ranks.
template <class Parts>
void ring_reduce(SegmentBuilder& b, const Group& group, const Parts& parts) {
  const int size = group.size(), me = group.me();
  const int next = group.rank(wrap(me + 1, size)), previous = group.rank(wrap(me - 1, size));
  for (int step = 0; step < ring_steps(group); ++step) {
    b.send(step, next, parts.of(wrap(me - 1 - step, size), 1));
    b.receive(step, previous, parts.of(wrap(me - 2 - step, size), 1), Action::combine_before);
  }
}

/// Neighbor exchange (Chen, Zhang, Zhang, Yuan, CLUSTER 2005): an even number of members, P / 2 steps, and every member
/// talks with its two neighbors only. After the first exchange two parts travel together, one way by even members and
/// the other way by odd ones.
template <class Parts>
void neighbor_collect(SegmentBuilder& b, const Group& group, const Parts& parts) {
  const int size = group.size(), me = group.me();
  const int side = me % 2 == 0 ? 1 : -1;  // where the partner of my pair is; the other neighbor is opposite
  // What comes in a step, as a pair of members: from ever farther, in turns from the one side and the other.
  const auto incoming = [&](int step) {
    const int distance = (step + 1) / 2 * (step % 2 == 0 ? side : -side);
    return parts.of(2 * wrap(me / 2 + distance, size / 2), 2);
  };
  for (int step = 0; step < size / 2; ++step) {
    const int neighbor = wrap(step % 2 == 0 ? me + side : me - side, size);
    b.send(step, group.rank(neighbor),
           step == 0   ? parts.of(me, 1)
           : step == 1 ? parts.of(me & ~1, 2)
                       : incoming(step - 1));
    b.receive(step, group.rank(neighbor), step == 0 ? parts.of(neighbor, 1) : incoming(step));
  }
}

}  // namespace wherry::schedule::segments
