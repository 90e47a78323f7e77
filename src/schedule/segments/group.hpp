// Ranks that perform a part of a collective together.
#pragma once

#include <span>

#include "schedule/segments/segment_builder.hpp"

namespace wherry::schedule::segments {

/// Members 0..size()-1 and their ranks. Families of strategies know members only, so that they serve for all ranks,
/// for the ranks of a node and for the leaders of nodes.
class Group {
 public:
  static constexpr int nobody = -1;

  /// All ranks, in their order.
  static Group everyone(const SegmentBuilder& b) { return {b.size(), b.rank(), {}}; }
  /// Those ranks; me: the builder's member, or nobody. The ranks must outlive the group.
  static Group of(std::span<const int> ranks, int me) { return {static_cast<int>(ranks.size()), me, ranks}; }

  int size() const { return size_; }
  int me() const { return me_; }
  bool takes_part() const { return me_ != nobody; }
  int rank(int member) const { return ranks_.empty() ? member : ranks_[static_cast<std::size_t>(member)]; }

 private:
  Group(int size, int me, std::span<const int> ranks) : size_(size), me_(me), ranks_(ranks) {}

  int size_;
  int me_;
  std::span<const int> ranks_;
};

/// How to combine what comes from another member so that members stay in their order.
inline Action combine_from(int member, int me) {
  return member < me ? Action::combine_before : Action::combine_after;
}

}  // namespace wherry::schedule::segments
