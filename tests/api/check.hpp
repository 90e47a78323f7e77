// What the programs of this folder share: a count of checks that went wrong, agreed at the end.
#pragma once

#include <mpi.h>

#include <cstdio>

namespace test {

/// Counts checks on this rank and prints those that do not hold.
class Checks {
 public:
  void that(bool holds, const char* what) {
    ++done_;
    if (holds) return;
    ++wrong_;
    std::fprintf(stderr, "rank %d: %s\n", rank(), what);
  }

  /// Collective over MPI_COMM_WORLD, before MPI_Finalize: the program's exit code, which is 0 if all ranks checked
  /// something and nothing was wrong.
  int exit_code() const {
    int mine[2] = {wrong_, done_ == 0}, all[2] = {};
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all[0] != 0 || all[1] != 0;
  }

 private:
  static int rank() {
    int value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &value);
    return value;
  }

  int wrong_ = 0, done_ = 0;
};

}  // namespace test
