// What a segment strategy would cost, in the terms of model/cost.hpp: its blocks are segments here.
#pragma once

#include "model/cost.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::model {

/// Walks schedules; price() it with the bytes of a segment. Combining counts as copying, and so does packing several
/// ranges. Ranks that are alike are sampled beyond `priced_exactly`.
Traffic traffic(const schedule::SegmentStrategy& strategy, const topology::Placement& placement,
                const schedule::Parameters& parameters);

/// buffer_bytes: all segments together, which is what one rank has (or gets) in the whole of the operation.
Cost cost(const schedule::SegmentStrategy& strategy, const topology::Placement& placement,
          const schedule::Parameters& parameters, long long buffer_bytes, const Machine& machine);

}  // namespace wherry::model
