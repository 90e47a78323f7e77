// Folding: a power of two of members that stand for all, for algorithms that need one.
//
// Of P = 2^k + e members the first 2e form pairs; one of each pair hands its data to the other in a step of its own,
// and gets the result back in another. Pairs are neighbors, so that the order of members is kept.
#pragma once

#include <bit>

#include "schedule/arithmetic.hpp"
#include "schedule/segments/group.hpp"
#include "schedule/segments/ranges.hpp"

namespace wherry::schedule::segments {

class Fold {
 public:
  /// The second of a pair stands for both, or `keeper` if it is one of them.
  explicit Fold(const Group& group, int keeper = Group::nobody)
      : group_(group),
        size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(group.size())))),
        pairs_(group.size() - size_),
        keeper_(keeper) {}

  /// Number of folded members, a power of two.
  int size() const { return size_; }
  int digits() const { return ceil_log2(size_); }
  /// Which folded member the builder's rank is; nobody if another stands for it.
  int me() const { return stands() ? folded(group_.me()) : Group::nobody; }
  bool stands() const { return group_.takes_part() && member(folded(group_.me())) == group_.me(); }
  int rank(int i) const { return group_.rank(member(i)); }
  /// The folded member that stands for a member, or is it.
  int folded(int member) const { return member < 2 * pairs_ ? member / 2 : member - pairs_; }
  /// The first of the members that a folded one stands for; i may be size().
  int first_member(int i) const { return i < pairs_ ? 2 * i : i + pairs_; }

  /// Hands all segments over within the pairs, and combines them.
  void combine(SegmentBuilder& b) const {
    if (const int other = partner(); other != Group::nobody) {
      const Ranges all(0, b.segments());
      if (stands()) b.receive(0, group_.rank(other), all, combine_from(other, group_.me()));
      else b.send(0, group_.rank(other), all);
    }
    b.pass(steps());
  }

  /// Gives each of those that stepped back `parts.of(its number, 1)`.
  template <class Parts>
  void give_back(SegmentBuilder& b, const Parts& parts) const {
    if (const int other = partner(); other != Group::nobody) {
      if (stands()) b.send(0, group_.rank(other), parts.of(other, 1));
      else b.receive(0, group_.rank(other), parts.of(group_.me(), 1));
    }
    b.pass(steps());
  }

 private:
  int steps() const { return pairs_ > 0 ? 1 : 0; }
  int member(int i) const {
    if (i >= pairs_) return i + pairs_;
    return keeper_ == 2 * i ? keeper_ : 2 * i + 1;
  }
  /// The other of my pair.
  int partner() const {
    const bool paired = group_.takes_part() && group_.me() < 2 * pairs_;
    return paired ? group_.me() ^ 1 : Group::nobody;
  }

  Group group_;
  int size_;
  int pairs_;
  int keeper_;
};

/// Each folded member has the segments of the ranks that it stands for; segment i is rank i's.
struct OfFolded {
  const Fold& fold;
  Ranges of(int first, int count) const {
    const int begin = fold.first_member(first);
    return {begin, fold.first_member(first + count) - begin};
  }
};

}  // namespace wherry::schedule::segments
