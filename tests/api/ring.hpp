// What the programs of this folder that read a neighbor's memory share: where they are in a ring of all ranks.
#pragma once

#include <initializer_list>

#include "check.hpp"

namespace test {

struct Ring {
  Ring() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
  }
  Checks checks;
  int rank = 0, size = 0, next = 0;
};

/// Runs each check in turn on one place in the ring, from MPI_Init to MPI_Finalize; returns the program's exit code.
template <class Place>
int run_each(int argc, char** argv, std::initializer_list<void (*)(Place&)> checks) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    Place place;
    for (const auto check : checks) check(place);
    code = place.checks.exit_code();
  }
  MPI_Finalize();
  return code;
}

}  // namespace test
