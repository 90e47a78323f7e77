// Bruck: what a member knows doubles in each of ceil(log2 P) steps, for any P.
//
// Member i holds the parts of i, i + 1, ... around the ring. Segments have their final place at once: where the
// original rotates the buffer at the end, a transfer here wraps around in two ranges.
#pragma once

#include <algorithm>

#include "schedule/arithmetic.hpp"
#include "schedule/segments/group.hpp"

namespace wherry::schedule::segments {

template <class Parts>
void bruck_collect(SegmentBuilder& b, const Group& group, const Parts& parts) {
  if (!group.takes_part()) return;
  const int size = group.size(), me = group.me();
  for (int step = 0; step < ceil_log2(size); ++step) {
    const int held = 1 << step;
    const int count = std::min(held, size - held);
    const int from = wrap(me + held, size);
    b.send(step, group.rank(wrap(me - held, size)), parts.of(me, count));
    b.receive(step, group.rank(from), parts.of(from, count));
  }
}

/// The same messages backwards: what was spread is combined. Part p gathers the members p + 1, ..., p in the order of
/// the ring, which is not that of the ranks.
template <class Parts>
void bruck_reduce(SegmentBuilder& b, const Group& group, const Parts& parts) {
  if (!group.takes_part()) return;
  const int size = group.size(), me = group.me(), steps = ceil_log2(size);
  for (int step = 0; step < steps; ++step) {
    const int kept = 1 << (steps - 1 - step);
    const int count = std::min(kept, size - kept);
    const int to = wrap(me + kept, size);
    b.send(step, group.rank(to), parts.of(to, count));
    b.receive(step, group.rank(wrap(me - kept, size)), parts.of(me, count), Action::combine_before);
  }
}

/// Dissemination barrier: the same partners, with messages that carry nothing.
inline void disseminate(SegmentBuilder& b, const Group& group) {
  if (!group.takes_part()) return;
  const int size = group.size(), me = group.me();
  for (int step = 0; step < ceil_log2(size); ++step) {
    b.send(step, group.rank(wrap(me + (1 << step), size)), {});
    b.receive(step, group.rank(wrap(me - (1 << step), size)), {});
  }
}

}  // namespace wherry::schedule::segments
