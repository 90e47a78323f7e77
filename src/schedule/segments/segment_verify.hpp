// Proof by symbolic execution that the segment schedules of all ranks together perform their collective.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"
#include "schedule/pairing.hpp"
#include "schedule/segment_schedule.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule {

// What can be checked of one schedule, or of one message, without running anything.

/// "rank 3 phase 1"
std::string place(int rank, int phase);

/// Indices in range, phases in ascending steps, peers that exist, transfers as their contract wants them, as many
/// segments as the operation has on `size` ranks. Throws schedule_error.
void check_form(const SegmentSchedule& schedule, Operation operation, int size, int rank);

/// Both ends carry the same segments, in the same step, and under a window at the same position. Throws schedule_error.
void check_ends(std::span<const SegmentSchedule> schedules, const Pair& pair);

/// What schedules claim to do.
struct Claim {
  Operation operation;
  int root = 0;
  bool keeps_order = false;  // reductions are in the order of ranks
};

/// Throws schedule_error, naming rank, phase and segment, unless:
/// - every rank ends with what the operation promises it, of every rank's data once; an allreduce with the same
///   association tree, and so the same bits, on all ranks; reductions in rank order if that is claimed;
/// - every send has its receive: the same segments in the same order, and the messages between two ranks in the
///   same order;
/// - no rank sends what it does not hold, nor combines where nothing is reduced; within a phase no segment is received
///   over what is being sent, nor twice, unless every time it is combined; what is held is combined in the same phase;
///   scratch slots of a phase are used once;
/// - nothing waits for ever, even if every send waits for its receive: both ends of a message are in the same step,
///   steps ascend, and under a window both are at the same position (see SegmentSchedule).
///
/// schedules[r] is rank r's. Time and memory are proportional to the segments in all messages.
void verify(const Claim& claim, std::span<const SegmentSchedule> schedules);

}  // namespace wherry::schedule
