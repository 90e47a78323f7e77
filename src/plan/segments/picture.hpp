// What segment schedules look like: the messages of a step, and what every rank has after it.
#pragma once

#include <span>
#include <string>

#include "plan/picture.hpp"
#include "plan/segments/schedule.hpp"
#include "plan/segments/strategy.hpp"

namespace wherry::plan {

/// "0-3,6": the segments of some ranges, in their order.
std::string text_of(std::span<const Range> ranges);

/// Of the schedules of all ranks, which must be valid (verify); columns are the steps in which something is sent.
Picture picture_of(std::span<const SegmentSchedule> schedules, Operation operation, int root);

}  // namespace wherry::plan
