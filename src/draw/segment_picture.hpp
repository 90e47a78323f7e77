// What segment schedules look like: the messages of a step, and what every rank has after it.
#pragma once

#include <span>
#include <string>

#include "draw/picture.hpp"
#include "schedule/segment_schedule.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::draw {

/// "0-3,6": the segments of some ranges, in their order.
std::string text_of(std::span<const schedule::Range> ranges);

/// Of the schedules of all ranks, which must be valid (verify); columns are the steps in which something is sent.
Picture picture_of(std::span<const schedule::SegmentSchedule> schedules, schedule::Operation operation,
                   int root);

}  // namespace wherry::draw
