// Which segment schedules perform which of MPI's collectives.
#pragma once

#include <optional>

#include "base/collective.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule {

/// The segment schedules of a collective; none: it exchanges blocks, of all ranks or of neighbors.
std::optional<Operation> segment_operation(Collective collective);

/// Whether the data is one block per rank. Else it is one buffer, which strategies cut as they like.
bool in_blocks(Operation operation);

}  // namespace wherry::schedule
