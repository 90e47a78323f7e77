// How long is a message on its way?
#pragma once

#include "places.hpp"
#include "post.hpp"

namespace bench::model {

inline constexpr int ping_pong_bytes[] = {small_bytes, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};

/// Half a round trip.
inline Values ping_pong(Post& post, int rank, Pair pair, int bytes) {
  const int row =
      bytes < 1 << 14 ? 8 : 1;  // short ones back to back: a clock takes as long as a short message
  Values values(samples);
  for (double& value : values) {
    const double start = MPI_Wtime();
    for (int i = 0; i < row; ++i) {
      if (rank == pair.a) post.send(pair.b, bytes);
      post.receive(rank == pair.a ? pair.b : pair.a, bytes);
      if (rank == pair.b) post.send(pair.a, bytes);
    }
    value = rank == pair.a ? (MPI_Wtime() - start) / (2 * row) : 0;
  }
  return values;
}

}  // namespace bench::model
