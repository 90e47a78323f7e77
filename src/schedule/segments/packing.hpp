// Where the messages of a segment schedule are packed.
#pragma once

#include <vector>

#include "schedule/segment_schedule.hpp"

namespace wherry::schedule {

/// Where the messages of a phase are packed that carry several ranges, in segments from the start of the packing area.
struct SegmentLayout {
  std::vector<int> send;     // per transfer of SegmentSchedule::sends
  std::vector<int> receive;  // per transfer of SegmentSchedule::receives
  int most_segments = 0;     // packed in one phase
};

SegmentLayout layout_of(const schedule::SegmentSchedule& schedule);

}  // namespace wherry::schedule
