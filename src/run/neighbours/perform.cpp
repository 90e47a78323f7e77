#include "run/neighbours/perform.hpp"

#include <algorithm>

#include "profile/record.hpp"
#include "run/neighbours/joined.hpp"
#include "run/perform.hpp"
#include "run/task.hpp"

namespace wherry::run {

namespace {

/// How blocks travel that are too large to be combined.
const plan::NeighbourStrategy& straight() { return plan::neighbour_strategies().front(); }

/// What the ranks have in common: MPI wants all blocks alike, but a rank without neighbours may say anything.
bool shows_size(Collective collective, const plan::Graph& graph) {
  const bool equal =
      collective == Collective::neighbor_alltoall || collective == Collective::neighbor_allgather;
  return equal && graph.is_connected() && !graph.edges().empty();
}

/// The size class of the call.
std::uint32_t bucket(Communicator& c, Collective collective) {
  const Neighbourhood& n = *c.neighbourhood;
  const NeighbourCall& call = n.call;
  if (shows_size(collective, n.graph())) {
    const Share& block = call.send.empty() ? call.receive.front() : call.send.front();
    return profile::bucket_of(static_cast<std::uint64_t>(block.bytes));
  }
  const auto edges = static_cast<double>(std::max<std::size_t>(1, call.send.size()));
  return c.watches[{collective, false}].follow(static_cast<double>(call.bytes_sent(n.topology())) / edges,
                                               c.channel());
}

}  // namespace

Neighbourhood* neighbourhood_of(Communicator& c, MPI_Comm comm) {
  // A rank may call in error, and alone.
  if (c.neighbourhood == nullptr && has_topology(c.channel().api(), comm))
    c.neighbourhood = std::make_unique<Neighbourhood>(c, comm);
  return c.neighbourhood.get();
}

std::string_view reason_to_leave(const Neighbourhood& n, bool asked) {
  if (!n.refusal().empty()) return n.refusal();
  return asked || n.is_promising() ? "" : "few neighbours, all on one node";
}

Described describe_neighbours(Communicator& c, Collective collective) {
  const Neighbourhood& n = *c.neighbourhood;
  return {.key = {collective, Limit::none, bucket(c, collective)},
          .bytes = static_cast<std::uint64_t>(n.call.bytes_sent(n.topology()))};
}

int perform_neighbours(Communicator& c, const CellKey& key, const plan::NeighbourStrategy& strategy,
                       Staging& staging) {
  Neighbourhood& n = *c.neighbourhood;
  const Joined joined(c.channel().api(), n.call, n.ports(key.collective), c.size(), c.rank(), n.blocks);
  const int code = irregular_exchange(blocking_task(c), n.blocks, strategy.hops, n.prepared(strategy),
                                      n.prepared(straight()), combined_limit(key.bucket), staging)
                       .run();
  return first_error(joined.code(), code);
}

}  // namespace wherry::run
