#include "run/cell_key.hpp"

#include "base/error.hpp"

namespace wherry::run {

std::optional<plan::Operation> segment_operation(Collective collective) {
  switch (collective) {
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw: return std::nullopt;
    case Collective::allgather:
    case Collective::allgatherv: return plan::Operation::allgather;
    case Collective::bcast: return plan::Operation::bcast;
    case Collective::gather: return plan::Operation::gather;
    case Collective::scatter: return plan::Operation::scatter;
    case Collective::reduce: return plan::Operation::reduce;
    case Collective::allreduce: return plan::Operation::allreduce;
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter: return plan::Operation::reduce_scatter;
    case Collective::barrier: return plan::Operation::barrier;
  }
  throw contract_error("a collective that does not exist");
}

bool in_blocks(plan::Operation operation) {
  switch (operation) {
    case plan::Operation::allgather:
    case plan::Operation::gather:
    case plan::Operation::scatter:
    case plan::Operation::reduce_scatter: return true;
    default: return false;
  }
}

long long largest(const CellKey& key) { return key.bucket == 0 ? 1 : 1LL << (key.bucket - 1); }

}  // namespace wherry::run
