// From which size on does a send wait for its receiver?
#pragma once

#include "places.hpp"
#include "post.hpp"

namespace bench::model {

inline constexpr int first_waiting_bytes = 1 << 10;
inline constexpr int waits = 3;             // samples: a few do, and they are slow
inline constexpr double patience_s = 0.03;  // for a send that does not wait

/// Whether a send ends while its receiver does not receive.
inline Values sends_waiting(Post& post, int rank, Pair pair, int bytes) {
  Values values(waits);
  for (double& value : values) {
    if (rank == pair.b) {
      post.send(pair.a, 0, ready);
      post.receive(pair.a, 0, go);
      post.receive(pair.a, bytes);
      continue;
    }
    post.receive(pair.b, 0, ready);
    MPI_Request request = post.start_send(pair.b, bytes);
    int over = 0;
    for (const double start = MPI_Wtime(); !over && MPI_Wtime() - start < patience_s;)
      MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    value = over ? 0 : 1;
    post.send(pair.b, 0, go);
    post.wait(request);
  }
  return values;
}

}  // namespace bench::model
