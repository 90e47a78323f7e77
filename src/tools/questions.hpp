// What a command was asked about: collectives, strategies, ranks and where they run. All errors are usage_error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.hpp"
#include "schedule/graph/graph.hpp"
#include "schedule/graph/routed.hpp"
#include "schedule/registry/algorithm.hpp"
#include "tools/commands.hpp"
#include "topology/placement.hpp"

namespace wherry::tools {

/// A collective that Wherry can replace.
struct NamedCollective {
  Collective collective;
  std::string name;  // "reduce_scatter_block": that of MPI, in small letters
  std::optional<schedule::Operation>
      segments;  // its schedules; none: it exchanges blocks, with all ranks or neighbors

  bool of_neighbors() const { return is_neighborhood(collective); }
  /// Whether both have the same strategies.
  bool is_like(const NamedCollective& other) const {
    return segments == other.segments && of_neighbors() == other.of_neighbors();
  }
  bool has_root() const { return segments && schedule::has_root(*segments); }
  bool reduces() const { return segments && schedule::reduces(*segments); }
};

const std::vector<NamedCollective>& operations();

/// "alltoall": as in NamedCollective::name.
const NamedCollective& operation_named(const std::string& name);

/// Its strategies, in the registry's order and with depth 1.
std::vector<schedule::Algorithm> algorithms_of(const NamedCollective& operation);

/// Which ranks, or neighbors, the algorithm needs for it: "at least 4 ranks".
std::string_view needs_of(const NamedCollective& operation, const schedule::Algorithm& algorithm);

/// The strategy of an operation.
schedule::Algorithm algorithm_named(const NamedCollective& operation, const std::string& name);

/// What `[OPERATION] STRATEGY` says; of a strategy alone, the operation is alltoall.
struct NamedStrategy {
  NamedCollective operation;
  schedule::Algorithm algorithm;
};
NamedStrategy named_strategy(std::span<const std::string> words);

/// -n, and one of --nodes and --node-of.
topology::Placement placement_of(const CommandLine& options);
/// The same where the number of ranks is known.
topology::Placement placement_of(const CommandLine& options, int ranks);

/// Ranks on the grid of --grid, which wraps around, with all neighbors up to --reach steps away: what neighborhood
/// collectives are asked about.
struct Stencil {
  schedule::Graph graph;
  topology::Placement placement;
  std::string grid;  // "4x4x4"
};
/// Nothing if the operation has no neighbors; then there must be no --grid.
std::optional<Stencil> stencil_of(const CommandLine& options, const NamedCollective& operation);
/// The algorithm, if it applies there. Refers to the stencil.
schedule::Routed routed(const Stencil& stencil, const schedule::Algorithm& algorithm);

/// --root, if the operation has one.
int root_of(const CommandLine& options, const NamedCollective& operation,
            const topology::Placement& placement);

/// The algorithm, if it applies to the placement, with --depth if it is pipelined.
schedule::Algorithm applicable(const NamedStrategy& named, const CommandLine& options,
                               const topology::Placement& placement);

/// "4 ranks"
std::string plural(int count, const std::string& thing);

}  // namespace wherry::tools
