// Every strategy that could perform an operation of bench/operations.hpp where this runs.
#pragma once

#include <iterator>

#include "measure.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace bench {

/// Names of the nodes are their first ranks.
inline wherry::topology::Placement placement_of(MPI_Comm comm) {
  MPI_Comm node = apps::node_of(comm);
  int leader = rank_of(comm);
  MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  std::vector<int> node_of(static_cast<std::size_t>(size_of(comm)));
  MPI_Allgather(&leader, 1, MPI_INT, node_of.data(), 1, MPI_INT, comm);
  return wherry::topology::Placement::placed(node_of);
}

/// MPI's reduce_scatter_block is the plan's reduce_scatter.
inline std::vector<std::string> strategies_of(std::string_view operation,
                                              const wherry::topology::Placement& placement) {
  std::vector<std::string> names;
  if (operation.starts_with("alltoall"))
    for (const wherry::schedule::Strategy& s : wherry::schedule::strategies())
      if (s.applies(placement)) names.emplace_back(s.name);
  for (const wherry::schedule::SegmentStrategy& s : wherry::schedule::segment_strategies()) {
    const std::string planned(wherry::schedule::name(s.operation));
    if ((operation == planned || operation == planned + "_block") && s.applies(placement))
      names.emplace_back(s.name);
  }
  return names;
}

}  // namespace bench
