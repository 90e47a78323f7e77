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

}  // namespace wherry::schedule::segments
