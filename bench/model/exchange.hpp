// What does a message cost the ranks, where many are under way?
#pragma once

#include "places.hpp"
#include "post.hpp"

namespace bench::model {

inline constexpr int messages_at_once = 256;  // so many that the latency of the last counts little

/// Small messages in both directions at once.
inline Values exchange(Post& post, int rank, Pair pair) {
  const int peer = rank == pair.a ? pair.b : pair.a;
  Values values(samples);
  for (double& value : values) {
    std::vector<MPI_Request> requests;
    for (int i = 0; i < messages_at_once; ++i)
      requests.push_back(post.start_receive(peer, small_bytes, data, i * small_bytes));
    MPI_Request here = post.start_send(peer, 0, ready);
    post.receive(peer, 0, ready);
    post.wait(here);
    const double start = MPI_Wtime();
    for (int i = 0; i < messages_at_once; ++i) requests.push_back(post.start_send(peer, small_bytes));
    post.wait_all(requests);
    value = rank == pair.a ? (MPI_Wtime() - start) / messages_at_once : 0;
  }
  return values;
}

}  // namespace bench::model
