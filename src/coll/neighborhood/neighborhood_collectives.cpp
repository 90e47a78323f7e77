#include "coll/neighborhood/neighborhood_collectives.hpp"

#include <algorithm>

#include "arguments/joined_blocks.hpp"
#include "coll/blocks/block_collectives.hpp"
#include "coll/state/task.hpp"
#include "profile/record.hpp"

namespace wherry::run {

namespace {

/// What the ranks have in common: MPI wants all blocks alike, but a rank without neighbours may say anything.
bool shows_size(Collective collective, const schedule::Graph& graph) {
  const bool equal =
      collective == Collective::neighbor_alltoall || collective == Collective::neighbor_allgather;
  return equal && graph.is_connected() && !graph.edges().empty();
}

/// The size class of the call at hand.
std::uint32_t bucket(Communicator& c, Collective collective) {
  const Neighbourhood& n = *c.neighbourhood;
  if (const std::optional<std::uint32_t> shown = shown_bucket(n, collective, n.call)) return *shown;
  return c.watches[{collective, false}].follow(average_bytes(n, n.call), c.channel());
}

}  // namespace

std::string_view reason_to_leave(const Neighbourhood& n, bool asked) {
  if (!n.refusal().empty()) return n.refusal();
  return asked || n.is_promising() ? "" : "few neighbours, all on one node";
}

std::optional<std::uint32_t> shown_bucket(const Neighbourhood& n, Collective collective,
                                          const NeighbourCall& call) {
  if (!shows_size(collective, n.graph())) return std::nullopt;
  const Share& block = call.send.empty() ? call.receive.front() : call.send.front();
  return profile::bucket_of(static_cast<std::uint64_t>(block.bytes));
}

long long average_bytes(const Neighbourhood& n, const NeighbourCall& call) {
  const auto edges = static_cast<long long>(std::max<std::size_t>(1, call.send.size()));
  return static_cast<long long>(call.bytes_sent(n.topology())) / edges;
}

const Prepared& large_block_schedule(Neighbourhood& n) {
  return n.prepared(schedule::neighbour_strategies().front());
}

Described describe_neighbours(Communicator& c, Collective collective) {
  const Neighbourhood& n = *c.neighbourhood;
  return {.key = {collective, Limit::none, bucket(c, collective)},
          .bytes = static_cast<std::uint64_t>(n.call.bytes_sent(n.topology()))};
}

int perform_neighbours(Communicator& c, const CellKey& key, const schedule::NeighbourStrategy& strategy,
                       Staging& staging) {
  Neighbourhood& n = *c.neighbourhood;
  const Joined joined(c.channel().api(), n.call, n.ports(key.collective), c.size(), c.rank(), n.blocks);
  const int code = exchange_irregular(blocking_task(c), n.blocks, strategy.hops, n.prepared(strategy),
                                      large_block_schedule(n), combined_limit(key.bucket), staging);
  return first_error(joined.code(), code);
}

}  // namespace wherry::run
