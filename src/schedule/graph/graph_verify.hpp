// Proof that a strategy performs the neighborhood collective of a graph.
#pragma once

#include "schedule/graph/routed.hpp"

namespace wherry::schedule {

/// Throws schedule_error unless every edge's block, and no other, arrives exactly once (schedule/blocks/block_verify.hpp has all that is asked of
/// schedules), and no rank uses more slots than promised. routed: one that applies.
void verify(const Routed& routed, const Graph& graph);

}  // namespace wherry::schedule
