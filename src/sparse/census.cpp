#include "sparse/sparse_strategies.hpp"

#include <vector>

#include "comm/polled_wait.hpp"
#include "sparse/inbox.hpp"

namespace wherry::run {

namespace {

/// How many messages are sent to this rank.
int count_incoming(const SparseCall& call, int* incoming) {
  std::vector<int> to(static_cast<std::size_t>(call.size), 0);
  for (const SparseMessage& m : call.sends) ++to[static_cast<std::size_t>(m.peer)];
  return call.channel.api().Reduce_scatter_block(to.data(), incoming, 1, MPI_INT, MPI_SUM,
                                                 call.channel.comm());
}

}  // namespace

// Where a message is refused, the channel sends an empty one: its receiver counts on it.
int census(const SparseCall& call) {
  int incoming = 0;
  int code = count_incoming(call, &incoming);
  if (code != MPI_SUCCESS) return code;
  const int tag = straight_tag(call.odd);
  std::vector<MPI_Request> sends(call.sends.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const SparseMessage& m = call.sends[i];
    const Piece piece{const_cast<void*>(m.data), static_cast<long long>(m.bytes)};
    code = first_error(code, call.channel.send(piece, m.peer, tag, &sends[i]));
  }
  Collector collector(call.channel, tag, call.inbox);
  poll([&](int* over) {
    while (incoming > 0 && collector.take()) --incoming;
    *over = incoming == 0;
    return MPI_SUCCESS;
  });
  code = first_error(code, collector.finish());
  return first_error(code, call.channel.wait_all(sends));
}

}  // namespace wherry::run
