// Lists of segments that are written down as ranges.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "schedule/segment_schedule.hpp"

namespace wherry::schedule {

/// Segments in the order in which they were added; neighbors share a range.
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
    for (const SegmentRange& range : others.list_) add(range.first, range.count);
  }

  const std::vector<SegmentRange>& list() const { return list_; }

 private:
  std::vector<SegmentRange> list_;
};

/// `count` segments from `first` on around a ring of `size`: one range, or two if it wraps. 0 <= first < size.
inline Ranges around(int first, int count, int size) {
  const int before_end = count < size - first ? count : size - first;
  Ranges ranges(first, before_end);
  ranges.add(0, count - before_end);
  return ranges;
}

/// The segments between the lowest and the highest of these ranges. Of none, {0, 0}.
inline SegmentRange hull(std::span<const SegmentRange> ranges) {
  if (ranges.empty()) return {0, 0};
  const int first = std::ranges::min(ranges, {}, &SegmentRange::first).first;
  return {first, std::ranges::max(ranges, {}, &SegmentRange::end).end() - first};
}

/// The segments between the lowest and the highest that the rank sends or receives: what a buffer of its own needs, if
/// the caller's does not do.
inline SegmentRange reach(const SegmentSchedule& schedule) { return hull(schedule.ranges); }

/// The same of those that it receives.
inline SegmentRange received(const SegmentSchedule& schedule) {
  std::vector<SegmentRange> all;
  for (const Transfer& t : schedule.receives)
    std::ranges::copy(schedule.ranges_of(t), std::back_inserter(all));
  return hull(all);
}

/// Whether the rank sends nothing but what it had from the start. Told by what lies between the first and the last
/// segment that it receives, so that a schedule with gaps there may be denied it.
inline bool sends_its_own(const SegmentSchedule& schedule) {
  const SegmentRange in = received(schedule);
  return std::ranges::all_of(schedule.sends, [&](const Transfer& t) {
    return std::ranges::all_of(schedule.ranges_of(t), [&](const SegmentRange& out) {
      return out.end() <= in.first || in.end() <= out.first;
    });
  });
}

}  // namespace wherry::schedule
