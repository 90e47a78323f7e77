// The machine by which wherry-plan estimates times: fitted to samples, and found again in the tuning file.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "model/cost.hpp"
#include "tools/commands.hpp"

namespace wherry::tools {

/// fitted_with: the MPI library of the row that the constants are from; empty: they are the defaults.
struct EstimateConstants {
  model::Machine machine;
  std::string fitted_with;
  std::vector<std::string> fitted;  // the libraries that this machine has rows for
};

/// The constants in --constants; or the row of this machine in the tuning file that --tuning names: that of the library
/// --mpi, or the only one.
EstimateConstants estimate_constants(const CommandLine& options);

void write(JsonWriter& json, const EstimateConstants& used);

}  // namespace wherry::tools
