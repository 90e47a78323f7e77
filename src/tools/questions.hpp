// What a command was asked about: collectives, strategies, ranks and where they run. All errors are usage_error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.hpp"
#include "choose/way.hpp"
#include "plan/neighbours/graph.hpp"
#include "plan/neighbours/routed.hpp"
#include "plan/shape.hpp"
#include "tools/options.hpp"

namespace wherry::tools {

/// A collective that Wherry can replace.
struct Operation {
  Collective collective;
  std::string name;  // "reduce_scatter_block": that of MPI, in small letters
  std::optional<plan::Operation>
      segments;  // its schedules; none: it exchanges blocks, with all ranks or neighbours

  bool of_neighbours() const { return is_neighbourhood(collective); }
  /// Whether both have the same strategies.
  bool is_like(const Operation& other) const {
    return segments == other.segments && of_neighbours() == other.of_neighbours();
  }
  bool has_root() const { return segments && plan::has_root(*segments); }
  bool reduces() const { return segments && plan::reduces(*segments); }
};

const std::vector<Operation>& operations();

/// "alltoall": as in Operation::name.
const Operation& operation_named(const std::string& name);

/// Its strategies, in the registry's order and with depth 1.
std::vector<choose::Way> ways_of(const Operation& operation);

/// The strategy of an operation.
choose::Way way_named(const Operation& operation, const std::string& name);

/// What `[OPERATION] STRATEGY` says; of a strategy alone, the operation is alltoall.
struct Subject {
  Operation operation;
  choose::Way way;
};
Subject subject(std::span<const std::string> words);

/// -n, and one of --nodes and --node-of.
plan::Shape shape_of(const Options& options);
/// The same where the number of ranks is known.
plan::Shape shape_of(const Options& options, int ranks);

/// Ranks on the grid of --grid, which wraps around, with all neighbours up to --reach steps away: what neighbourhood collectives
/// are asked about.
struct Stencil {
  plan::Graph graph;
  plan::Shape shape;
  std::string grid;  // "4x4x4"
};
/// Nothing if the operation has no neighbours; then there must be no --grid.
std::optional<Stencil> stencil_of(const Options& options, const Operation& operation);
/// The way, if it applies there. Refers to the stencil.
plan::Routed routed(const Stencil& stencil, const choose::Way& way);

/// --root, if the operation has one.
int root_of(const Options& options, const Operation& operation, const plan::Shape& shape);

/// The way, if it applies to the shape, with --depth if it is pipelined.
choose::Way applicable(const Subject& subject, const Options& options, const plan::Shape& shape);

/// "4 ranks"
std::string plural(int count, const std::string& thing);

}  // namespace wherry::tools
