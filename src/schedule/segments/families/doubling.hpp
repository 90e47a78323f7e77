// Recursive doubling: log2 P exchanges with the member whose number differs in one binary digit, the lowest first.
//
// After k steps the aligned blocks of 2^k members know the same.
#pragma once

#include "schedule/segments/families/fold.hpp"

namespace wherry::schedule::segments {

/// Collects everybody's part; a power of two of members.
template <class Parts>
void doubling_collect(SegmentBuilder& b, const Group& group, const Parts& parts) {
  const int me = group.me();
  for (int width = 1, step = 0; width < group.size(); width *= 2, ++step) {
    const int partner = me ^ width;
    b.send(step, group.rank(partner), parts.of(me & ~(width - 1), width));
    b.receive(step, group.rank(partner), parts.of(partner & ~(width - 1), width));
  }
}

/// Reduces all segments for everybody, in the order of members: both of a pair combine the lower block with the upper.
inline void doubling_reduce(SegmentBuilder& b, const Fold& fold) {
  const Ranges all(0, b.segments());
  const int me = fold.me();
  for (int step = 0; step < fold.digits() && fold.stands(); ++step) {
    const int partner = me ^ (1 << step);
    b.send(step, fold.rank(partner), all);
    b.receive(step, fold.rank(partner), all, combine_from(partner, me));
  }
  b.pass(fold.digits());
}

}  // namespace wherry::schedule::segments
