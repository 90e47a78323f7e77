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

// Recursive halving, and Rabenseifner's reductions: half of what is left goes to a partner in each of log2 P steps, so
// that a reduction costs no more bytes than twice its data, whatever P.

/// The buffer has a segment per folded member. The first exchange is with the neighbor, and keeps one half; so blocks
/// of members are combined in their order, and the closest exchange most. What member i has in the end is the segment
/// whose number is i with its digits reversed.
class Halving {
 public:
  explicit Halving(const Fold& fold) : fold_(fold), digits_(fold.digits()) {}

  void reduce(SegmentBuilder& b) const {
    const int me = fold_.me();
    for (int digit = 0; digit < digits_ && fold_.stands(); ++digit) {
      const int partner = me ^ (1 << digit);
      b.send(digit, fold_.rank(partner), kept(partner, digit));
      b.receive(digit, fold_.rank(partner), kept(me, digit), combine_from(partner, me));
    }
    b.pass(digits_);
  }

  /// The same exchanges backwards, after which everybody has all.
  void collect(SegmentBuilder& b) const {
    const int me = fold_.me();
    for (int digit = digits_ - 1; digit >= 0 && fold_.stands(); --digit) {
      const int partner = me ^ (1 << digit);
      b.send(step_back(digit), fold_.rank(partner), kept(me, digit));
      b.receive(step_back(digit), fold_.rank(partner), kept(partner, digit));
    }
    b.pass(digits_);
  }

  /// The same, but one way: towards `root`, a folded member.
  void collect_at(SegmentBuilder& b, int root) const {
    const int me = fold_.me();
    for (int digit = digits_ - 1; digit >= 0 && fold_.stands(); --digit) {
      const int partner = me ^ (1 << digit);
      const bool i_stay = ((me ^ root) >> digit & 1) == 0;
      if (i_stay) {
        b.receive(step_back(digit), fold_.rank(partner), kept(partner, digit));
        continue;
      }
      b.send(step_back(digit), fold_.rank(partner), kept(me, digit));
      break;
    }
    b.pass(digits_);
  }

 private:
  int step_back(int digit) const { return digits_ - 1 - digit; }

  /// What `member` keeps in the exchange over `digit`: the lower half of what it had, or the upper.
  Ranges kept(int member, int digit) const {
    int first = 0, count = fold_.size();
    for (int d = 0; d <= digit; ++d) {
      count /= 2;
      if (member >> d & 1) first += count;
    }
    return {first, count};
  }

  const Fold& fold_;
  int digits_;
};

/// Everybody's own segment, one per rank, highest digit first: one range a message, but not in the order of members.
inline void halving_scatter(SegmentBuilder& b, const Fold& fold) {
  const OfFolded parts{fold};
  const int me = fold.me(), digits = fold.digits();
  for (int step = 0; step < digits && fold.stands(); ++step) {
    const int width = 1 << (digits - 1 - step), partner = me ^ width;
    const auto block = [&](int member) { return parts.of(member & ~(width - 1), width); };
    b.send(step, fold.rank(partner), block(partner));
    b.receive(step, fold.rank(partner), block(me), combine_from(partner, me));
  }
  b.pass(digits);
}

/// The same in the order of members, lowest digit first: what a member keeps are the segments of those whose low digits
/// are its own, which are many ranges.
inline void halving_scatter_in_order(SegmentBuilder& b, const Fold& fold) {
  const OfFolded parts{fold};
  const int me = fold.me();
  for (int step = 0; step < fold.digits() && fold.stands(); ++step) {
    const int width = 1 << step, partner = me ^ width;
    const auto kept = [&](int member) {
      Ranges segments;
      for (int i = member & (2 * width - 1); i < fold.size(); i += 2 * width) segments.add(parts.of(i, 1));
      return segments;
    };
    b.send(step, fold.rank(partner), kept(partner));
    b.receive(step, fold.rank(partner), kept(me), combine_from(partner, me));
  }
  b.pass(fold.digits());
}

}  // namespace wherry::schedule::segments
