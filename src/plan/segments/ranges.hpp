// Lists of segments that are written down as ranges.
#pragma once

#include <algorithm>
#include <vector>

#include "plan/segments/schedule.hpp"

namespace wherry::plan {

/// Segments in the order in which they were added; neighbours share a range.
class Ranges {
 public:
  Ranges() = default;
  Ranges(int first, int count) { add(first, count); }

  void add(int first, int count) {
    if (count == 0) return;
    if (!list_.empty() && list_.back().end() == first) list_.back().count += count;
    else list_.push_back({first, count});
  }

  void add(const Ranges& others) {
    for (const Range& range : others.list_) add(range.first, range.count);
  }

  const std::vector<Range>& list() const { return list_; }

 private:
  std::vector<Range> list_;
};

/// `count` segments from `first` on around a ring of `size`: one range, or two if it wraps. 0 <= first < size.
inline Ranges around(int first, int count, int size) {
  const int before_end = count < size - first ? count : size - first;
  Ranges ranges(first, before_end);
  ranges.add(0, count - before_end);
  return ranges;
}

/// The segments between the lowest and the highest that the rank sends or receives: what a buffer of its own needs, if
/// the caller's does not do. Of no transfers, {0, 0}.
inline Range reach(const SegmentSchedule& schedule) {
  if (schedule.ranges.empty()) return {0, 0};
  int low = schedule.segments, high = 0;
  for (const Range& range : schedule.ranges) {
    low = std::min(low, range.first);
    high = std::max(high, range.end());
  }
  return {low, high - low};
}

}  // namespace wherry::plan
