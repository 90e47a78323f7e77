// How much passes between a node and others, in how many flows?
#pragma once

#include "places.hpp"
#include "post.hpp"

namespace bench::model {

inline constexpr int flow_bytes[] = {1 << 14, 1 << 16, 1 << 18};
inline constexpr int under_way_bytes = 1 << 18;  // of one flow
inline constexpr int flow_samples = samples / 3;

/// This rank's messages of the flows, some at a time in each.
inline void stream(Post& post, int rank, const std::vector<Flow>& flows, int bytes) {
  std::vector<int> peers;
  for (const Flow& flow : flows) {
    if (flow.home == rank) peers.push_back(flow.away);
    if (flow.away == rank) peers.push_back(flow.home);
  }
  for (int sent = 0; sent < most_bytes; sent += under_way_bytes) {
    std::vector<MPI_Request> requests;
    for (int place = 0, posted = 0; posted < under_way_bytes; posted += bytes)
      for (const int peer : peers) requests.push_back(post.start_receive(peer, bytes, data, bytes * place++));
    for (int started = 0; started < under_way_bytes; started += bytes)
      for (const int peer : peers) requests.push_back(post.start_send(peer, bytes));
    post.wait_all(requests);
  }
}

inline Values streams(Post& post, int rank, const std::vector<Flow>& flows, int bytes) {
  const int clock = flows.front().home;
  std::vector<int> others;
  for (const Flow& flow : flows)
    for (const int each : {flow.home, flow.away})
      if (each != clock && std::ranges::find(others, each) == others.end()) others.push_back(each);
  Values values(flow_samples);
  for (double& value : values) {
    if (rank != clock) {
      post.send(clock, 0, ready);
      post.receive(clock, 0, go);
      stream(post, rank, flows, bytes);
      post.send(clock, 0, done);
      continue;
    }
    for (const int other : others) post.receive(other, 0, ready);
    const double start = MPI_Wtime();
    for (const int other : others) post.send(other, 0, go);
    stream(post, rank, flows, bytes);
    for (const int other : others) post.receive(other, 0, done);
    value = (MPI_Wtime() - start) / (static_cast<double>(flows.size()) * most_bytes);
  }
  return values;
}

}  // namespace bench::model
