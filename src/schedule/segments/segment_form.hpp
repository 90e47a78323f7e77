// What can be checked of one schedule, or of one message, without running anything.
#pragma once

#include <span>
#include <string>

#include "schedule/pairing.hpp"
#include "schedule/segment_schedule.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule {

/// "rank 3 phase 1"
std::string place(int rank, int phase);

/// Indices in range, phases in ascending steps, peers that exist, transfers as their contract wants them, as many
/// segments as the operation has on `size` ranks. Throws schedule_error.
void check_form(const SegmentSchedule& schedule, Operation operation, int size, int rank);

/// Both ends carry the same segments, in the same step, and under a window at the same position. Throws schedule_error.
void check_ends(std::span<const SegmentSchedule> schedules, const Pair& pair);

}  // namespace wherry::schedule
