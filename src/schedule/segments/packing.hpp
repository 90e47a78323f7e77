// Where the messages of a segment schedule are packed.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "schedule/segment_schedule.hpp"

namespace wherry::schedule {

/// Where the messages of a phase are packed that carry several ranges, in segments from the start of the packing area.
struct SegmentLayout {
  std::vector<int> send;     // per transfer of SegmentSchedule::sends
  std::vector<int> receive;  // per transfer of SegmentSchedule::receives
  int most_segments = 0;     // packed in one phase
};

/// Offsets of the messages of one side that must be packed; the others have none.
inline void lay_out(const SegmentSchedule& schedule, std::span<const Transfer> transfers, int& used,
                    std::vector<int>& offsets) {
  for (const Transfer& t : transfers) {
    offsets.push_back(used);
    if (t.count > 1 && t.action == Action::replace) used += schedule.carried(t);
  }
}

inline SegmentLayout layout_of(const SegmentSchedule& schedule) {
  SegmentLayout layout;
  for (const Phase& phase : schedule.phases) {
    int used = 0;
    lay_out(schedule, schedule.sends_of(phase), used, layout.send);
    lay_out(schedule, schedule.receives_of(phase), used, layout.receive);
    layout.most_segments = std::max(layout.most_segments, used);
  }
  return layout;
}

}  // namespace wherry::schedule
