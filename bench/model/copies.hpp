// How long does a copy in memory take?
#pragma once

#include "post.hpp"

namespace bench::model {

inline constexpr int copy_bytes[] = {1 << 12, 1 << 14, 1 << 16, 1 << 18};

inline Values copies(Post& post, int rank, int bytes) {
  Values values(samples);
  int offset = 0;
  for (double& value : values) {
    const double start = MPI_Wtime();
    for (const int end = offset + most_bytes; offset < end; offset += bytes) post.copy(offset, bytes);
    value = rank == 0 ? (MPI_Wtime() - start) * bytes / most_bytes : 0;
  }
  return values;
}

}  // namespace bench::model
