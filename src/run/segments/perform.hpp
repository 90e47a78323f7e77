// One collective on segments: the schedule, the caller's memory at its edges, and working memory.
#pragma once

#include "run/communicator.hpp"
#include "run/staging.hpp"
#include "run/way.hpp"

namespace wherry::run {

/// Runs `way`, which has a segment strategy, for the call in c.segments. Collective; returns an MPI code.
int perform_segments(Communicator& c, const Way& way, Staging& staging);

}  // namespace wherry::run
