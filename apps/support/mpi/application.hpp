// What all applications do around their work: MPI from start to end, a command line that all ranks agree on, the
// report.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "support/options.hpp"
#include "support/progress.hpp"
#include "support/report.hpp"

namespace apps {

/// What the work of an application hands back, the same on all ranks.
struct Results {
  std::string head;  // what ran, in a line above the table
  std::vector<Measurement> measurements;
  std::string wrong;            // what is wrong with a result; empty: all are right
  std::string right;            // what was checked
  std::string side = "Wherry";  // what the table compares with plain MPI
  std::string more = "";        // below the table
};

struct Application {
  Manual manual;
  std::vector<Option> options;
  Common& common;
  /// Checks whether the settings are possible on so many ranks, before any work. Throws usage_error. Local.
  std::function<void(int ranks)> validate;
  /// Collective over comm.
  std::function<Results(MPI_Comm comm, Progress& progress)> work;
};

/// The whole of main(); returns the exit code, the same on all ranks: 0 done; 1 a wrong result, or a file
/// that cannot be written; 2 wrong usage, said once.
int run(int argc, char** argv, const Application& application);

}  // namespace apps
