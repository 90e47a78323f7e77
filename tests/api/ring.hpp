// What the programs of this folder that read a neighbour's memory share: where they are in a ring of all ranks.
#pragma once

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

}  // namespace test
