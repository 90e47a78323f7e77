// What a command was asked about: collectives, strategies, ranks and where they run. All errors are usage_error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.hpp"
#include "choose/way.hpp"
#include "plan/shape.hpp"
#include "tools/options.hpp"

namespace wherry::tools {

/// A collective that Wherry can replace.
struct Operation {
  Collective collective;
  std::string name;                         // "reduce_scatter_block": that of MPI, in small letters
  std::optional<plan::Operation> segments;  // its schedules; none: it exchanges blocks

  bool has_root() const { return segments && plan::has_root(*segments); }
  bool reduces() const { return segments && plan::reduces(*segments); }
};

const std::vector<Operation>& operations();

/// "alltoall": as in Operation::name.
const Operation& operation_named(const std::string& name);

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

/// --root, if the operation has one.
int root_of(const Options& options, const Operation& operation, const plan::Shape& shape);

/// The way, if it applies to the shape, with --depth if it is pipelined.
choose::Way applicable(const Subject& subject, const Options& options, const plan::Shape& shape);

/// "4 ranks"
std::string plural(int count, const std::string& thing);

}  // namespace wherry::tools
