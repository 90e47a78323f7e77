// Pipelined chain: segments follow each other from member to member, all links busy at once. For s segments
// P - 2 + s steps, each with one segment in and one out.
#pragma once

#include "schedule/arithmetic.hpp"
#include "schedule/segments/group.hpp"

namespace wherry::schedule::segments {

inline void chain_down(SegmentBuilder& b, const Group& group, int root) {
  const int size = group.size(), place = wrap(group.me() - root, size);
  const auto at = [&](int p) { return group.rank(wrap(root + p, size)); };
  for (int segment = 0; segment < b.segments(); ++segment) {
    if (place > 0) b.receive(place - 1 + segment, at(place - 1), {segment, 1});
    if (place + 1 < size) b.send(place + segment, at(place + 1), {segment, 1});
  }
}

}  // namespace wherry::schedule::segments
