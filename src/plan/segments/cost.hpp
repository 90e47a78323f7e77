// What a segment strategy would cost, in the terms of plan/cost.hpp: its blocks are segments here.
#pragma once

#include "plan/cost.hpp"
#include "plan/segments/strategy.hpp"

namespace wherry::plan {

/// Walks schedules; price() it with the bytes of a segment. Combining counts as copying, and so does packing several
/// ranges. Ranks that are alike are sampled beyond `priced_exactly`.
Traffic traffic(const SegmentStrategy& strategy, const Shape& shape, const Parameters& parameters);

/// buffer_bytes: all segments together, which is what one rank has (or gets) in the whole of the operation.
Cost cost(const SegmentStrategy& strategy, const Shape& shape, const Parameters& parameters,
          long long buffer_bytes, const Machine& machine);

}  // namespace wherry::plan
