// One collective on segments: the schedule, its buffer and its working memory.
#pragma once

#include "plan/segments/strategy.hpp"
#include "run/executor.hpp"
#include "run/segments/binding.hpp"
#include "run/staging.hpp"

namespace wherry::run {

/// A segment schedule of one rank, ready to run.
struct PreparedSegments {
  plan::SegmentSchedule schedule;
  SegmentLayout layout;
};

PreparedSegments prepare(const plan::SegmentStrategy& strategy, const plan::Shape& shape, int rank,
                         const plan::Parameters& parameters);

/// Runs the schedule on `buffer`, which begins with segment 0 and is cut by `cut`, whose segments are the schedule's.
/// reduction: nullptr where nothing is combined. Collective over the channel; returns an MPI code.
int perform_segments(const Channel& channel, const PreparedSegments& prepared, const Cut& cut,
                     std::byte* buffer, const Reduction* reduction, Requests& requests, Staging& staging);

}  // namespace wherry::run
