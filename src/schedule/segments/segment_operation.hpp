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
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
    case Collective::neighbor_alltoall:
    case Collective::neighbor_alltoallv:
    case Collective::neighbor_alltoallw:
    case Collective::neighbor_allgather:
    case Collective::neighbor_allgatherv: return std::nullopt;
    case Collective::allgather:
    case Collective::allgatherv: return Operation::allgather;
    case Collective::bcast: return Operation::bcast;
    case Collective::gather: return Operation::gather;
    case Collective::scatter: return Operation::scatter;
    case Collective::reduce: return Operation::reduce;
    case Collective::allreduce: return Operation::allreduce;
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter: return Operation::reduce_scatter;
    case Collective::barrier: return Operation::barrier;
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
