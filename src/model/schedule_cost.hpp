// What schedules of other kinds than all-to-alls would cost, by model/cost.hpp: its blocks are segments or edges here.
#pragma once

#include "model/cost.hpp"
#include "schedule/graph/routed.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::model {

/// Walks schedules; price() it with the bytes of a segment. Combining counts as copying, and so does packing several
/// ranges. Ranks that are alike are sampled beyond `priced_exactly`.
Traffic traffic(const schedule::SegmentStrategy& strategy, const topology::Placement& placement,
                const schedule::Parameters& parameters);

/// buffer_bytes: all segments together, which is what one rank has (or gets) in the whole of the operation.
Cost cost(const schedule::SegmentStrategy& strategy, const topology::Placement& placement,
          const schedule::Parameters& parameters, long long buffer_bytes, const Machine& machine);

/// Walks the schedules of a strategy on a graph, as traffic() of one for all-to-alls. routed: one that applies.
Traffic traffic(const schedule::Routed& routed, const topology::Placement& placement);

}  // namespace wherry::model
