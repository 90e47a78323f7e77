// Which segment schedules perform which of MPI's collectives.
#pragma once

#include <optional>

#include "base/collective.hpp"
#include "base/error.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::schedule {

/// The segment schedules of a collective; none: it exchanges blocks, of all ranks or of neighbors.
inline std::optional<Operation> segment_operation(Collective collective) {
  switch (collective) {
#include "segment_operations.inc"  // one case each: tools/mpi_functions.toml
  }
  throw contract_error("a collective that does not exist");
}

/// Whether the data is one block per rank. Else it is one buffer, which strategies cut as they like.
inline bool in_blocks(Operation operation) {
  switch (operation) {
    case Operation::allgather:
    case Operation::gather:
    case Operation::scatter:
    case Operation::reduce_scatter: return true;
    default: return false;
  }
}

}  // namespace wherry::schedule
