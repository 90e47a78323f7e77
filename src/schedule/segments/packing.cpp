#include "schedule/segments/packing.hpp"

#include <algorithm>
#include <span>

namespace wherry::schedule {
namespace {

/// Offsets of the messages of one side that must be packed; the others have none.
void lay_out(const SegmentSchedule& schedule, std::span<const Transfer> transfers, int& used,
             std::vector<int>& offsets) {
  for (const Transfer& t : transfers) {
    offsets.push_back(used);
    if (t.count > 1 && t.action == Action::replace) used += schedule.carried(t);
  }
}

}  // namespace

SegmentLayout layout_of(const SegmentSchedule& schedule) {
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
