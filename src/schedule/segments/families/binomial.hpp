// Binomial tree: ceil(log2 P) steps, in each of which twice as many members are done.
//
// Other trees number the members by their distance from the root, and so tear rank order and segments apart at
// the end of the ring. Here aligned blocks of 2^k members join two by two; each block has a head, which is its
// first member, or the root if it contains it. So the members below any member are consecutive whatever the root:
// reductions keep their order, and no transfer wraps around.
#pragma once

#include <algorithm>

#include "schedule/arithmetic.hpp"
#include "schedule/segments/group.hpp"

namespace wherry::schedule::segments {

/// Members first, ..., first + count - 1, which one of them speaks for.
struct Bunch {
  int first;
  int count;
  int head(int root) const { return first <= root && root < first + count ? root : first; }
};

/// Two blocks join: mine, of which I am the head, and theirs.
struct Join {
  int level;
  int peer;  // head of theirs
  Bunch mine;
  Bunch theirs;
  bool i_stay;  // I am the head of both; else the peer is
};

/// Calls visit(Join) for the joins of member `me`, from the smallest blocks on; in all but the last, it stays.
template <class Visit>
void for_joins(int size, int root, int me, Visit&& visit) {
  for (int level = 0; level < ceil_log2(size); ++level) {
    const int width = 1 << level;
    const auto block = [&](int first, int members) { return Bunch{first, std::min(members, size - first)}; };
    const int first = me & ~(width - 1);
    if ((first ^ width) >= size) continue;
    const Bunch mine = block(first, width), theirs = block(first ^ width, width);
    const bool i_stay = block(first & ~width, 2 * width).head(root) == me;
    visit(Join{level, theirs.head(root), mine, theirs, i_stay});
    if (!i_stay) return;
  }
}

enum class Joining { collect, combine };

/// Towards the root, in ceil_log2(group.size()) steps: `collect` segments, or `combine` the same ones.
template <class Parts>
void binomial_up(SegmentBuilder& b, const Group& group, int root, const Parts& parts, Joining joining) {
  if (!group.takes_part()) return;
  for_joins(group.size(), root, group.me(), [&](const Join& join) {
    const int peer = group.rank(join.peer);
    if (!join.i_stay) return b.send(join.level, peer, parts.of(join.mine.first, join.mine.count));
    b.receive(join.level, peer, parts.of(join.theirs.first, join.theirs.count),
              joining == Joining::combine ? combine_from(join.peer, group.me()) : Action::replace);
  });
}

/// The same messages the other way round.
template <class Parts>
void binomial_down(SegmentBuilder& b, const Group& group, int root, const Parts& parts) {
  if (!group.takes_part()) return;
  const int last = ceil_log2(group.size()) - 1;
  for_joins(group.size(), root, group.me(), [&](const Join& join) {
    const int peer = group.rank(join.peer);
    if (join.i_stay) b.send(last - join.level, peer, parts.of(join.theirs.first, join.theirs.count));
    else b.receive(last - join.level, peer, parts.of(join.mine.first, join.mine.count));
  });
}

// k-nomial tree: ceil(log_k P) steps, in each of which k times as many members are done.
//
// Of the step's messages a head pays for k - 1, but waits for the latency of one: fewer steps than a binomial tree
// where messages are cheap beside it. Aligned blocks of k^i members have the heads that they have in binomial.hpp.

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
