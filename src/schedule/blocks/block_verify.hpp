// Proof by simulation that the schedules of all ranks together perform the collective.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

/// Throws schedule_error, naming rank, phase and block, unless:
/// - every block arrives exactly once, at its destination, and none is left in staging;
/// - every send has its receive: the same blocks in the same order, and the messages between two ranks in the
///   same order;
/// - no rank sends what it does not hold; no staging slot is written while its data is still needed, nor read
///   before it is written; messages of a phase share no slot;
/// - nothing waits for ever, even if every send waits for its receive and a window moves on only when the
///   sends and the receives of all earlier positions are complete.
///
/// schedules[r] is rank r's. Time and memory are proportional to the blocks in all messages.
void verify(std::span<const Schedule> schedules);

/// The same where only some blocks are to be moved, and no others may be: is_due() of origin and destination, which
/// differ.
void verify(std::span<const Schedule> schedules, const std::function<bool(Block)>& is_due);

/// The schedules of all ranks.
std::vector<Schedule> schedules(const Strategy& strategy, const topology::Placement& placement);

}  // namespace wherry::schedule
