// k-nomial tree: ceil(log_k P) steps, in each of which k times as many members are done.
//
// Of the step's messages a head pays for k - 1, but waits for the latency of one: fewer steps than a binomial tree
// where messages are cheap beside it. Aligned blocks of k^i members have the heads that they have in binomial.hpp.
#pragma once

#include "schedule/segments/families/binomial.hpp"

namespace wherry::schedule::segments {

/// From the root, in as many steps as `radix` must be multiplied by itself to reach group.size().
template <class Parts>
void knomial_down(SegmentBuilder& b, const Group& group, int root, int radix, const Parts& parts) {
  const int me = group.me(), size = group.size();
  const auto block = [=](int member, int width) {
    const int first = member - member % width;
    return Bunch{first, std::min(width, size - first)};
  };
  int width = 1;
  while (width < size) width *= radix;
  for (int step = 0; width > 1; ++step, width /= radix) {
    const Bunch whole = block(me, width), mine = block(me, width / radix);
    const int head = whole.head(root);
    if (me == head) {
      for (int first = whole.first; first < whole.first + whole.count; first += width / radix)
        if (const Bunch theirs = block(first, width / radix); theirs.first != mine.first)
          b.send(step, group.rank(theirs.head(root)), parts.of(theirs.first, theirs.count));
    } else if (me == mine.head(root)) {
      b.receive(step, group.rank(head), parts.of(mine.first, mine.count));
    }
  }
}

}  // namespace wherry::schedule::segments
