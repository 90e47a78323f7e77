// What Wherry keeps of a communicator's topology.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "arguments/neighbors.hpp"
#include "coll/state/schedules.hpp"
#include "comm/communicator.hpp"
#include "schedule/graph/graph.hpp"
#include "schedule/graph/routed.hpp"
#include "tuning/candidates.hpp"

namespace wherry::run {

/// Made at the first neighborhood collective on an enabled communicator, and freed with its state.
class Neighborhood {
 public:
  /// Collective over comm, whose state c is: the ranks tell each other their neighbors, so that each knows the whole
  /// graph.
  Neighborhood(const Communicator& c, MPI_Comm comm);
  Neighborhood(const Neighborhood&) = delete;
  Neighborhood& operator=(const Neighborhood&) = delete;
  ~Neighborhood();

  /// Why its collectives stay with the library, alike on all ranks; empty: they need not.
  std::string_view refusal() const { return refusal_; }
  const Topology& topology() const { return topology_; }

  // Unless it is refused:
  const schedule::Graph& graph() const { return *graph_; }
  /// tuning::is_promising().
  bool is_promising() const { return promising_; }
  const Ports& ports(Collective collective) const;
  /// What applies to the graph.
  const std::vector<tuning::AlgorithmCandidate>& candidates();
  const Prepared& prepared(const schedule::Strategy& strategy);
  /// How blocks travel that are too large to be combined.
  const Prepared& large_block_schedule() { return prepared(schedule::neighborhood_strategies().front()); }

 private:
  std::string_view gather();
  std::string_view match(MPI_Comm comm);

  const Communicator& c_;
  std::string_view refusal_;
  bool promising_ = false;
  const Topology topology_;
  const Ports plain_;
  std::optional<schedule::Graph> graph_;
  std::map<Collective, Ports> asked_;  // of those whose blocks differ, where some rank has a neighbor twice
  std::vector<tuning::AlgorithmCandidate> candidates_;
  std::map<const schedule::Strategy*, std::unique_ptr<Prepared>> prepared_;
};

/// The neighborhood of comm, whose state c is; made at the first call, collectively. nullptr: it has no topology.
Neighborhood* neighborhood_of(Communicator& c, MPI_Comm comm);
/// The same once it was made, else nullptr.
Neighborhood* neighborhood_of(const Communicator& c);

}  // namespace wherry::run
