// Performs one collective on segments: its schedule, the caller's memory at the edges, and working memory. The
// algorithms are in schedule/segments/strategies.
#pragma once

#include "coll/state/schedules.hpp"
#include "coll/state/task.hpp"
#include "comm/staging.hpp"
#include "exec/coroutine.hpp"

namespace wherry::run {

/// Performs `call` by the schedule. staging: so many bytes as the first function says. Collective.
std::size_t segment_staging(const SegmentCall& call, const PreparedSegments& prepared);
Work segment_collective(Task task, const SegmentCall& call, const PreparedSegments& prepared,
                        std::byte* staging);

/// The same of a blocking call. Returns an MPI code.
int perform_segments(Communicator& c, const PreparedSegments& prepared, const SegmentCall& call,
                     Staging& staging);

}  // namespace wherry::run
