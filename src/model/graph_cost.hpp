// What a strategy on a graph would cost, in the terms of cost.hpp.
#pragma once

#include "model/cost.hpp"
#include "schedule/graph/routed.hpp"

namespace wherry::model {

/// Walks schedules, as traffic() of a strategy for all-to-alls. routed: one that applies.
Traffic traffic(const schedule::Routed& routed, const topology::Placement& placement);

}  // namespace wherry::model
