// Proof that a strategy performs the neighbourhood collective of a graph.
#pragma once

#include "plan/neighbours/routed.hpp"

namespace wherry::plan {

/// Throws schedule_error unless every edge's block, and no other, arrives exactly once (plan/verify.hpp has all that is asked of
/// schedules), and no rank uses more slots than promised. routed: one that applies.
void verify(const Routed& routed, const Graph& graph);

}  // namespace wherry::plan
