#include "coll/neighborhood/neighborhood_collectives.hpp"

#include <algorithm>

#include "coll/state/choices.hpp"
#include "profile/record.hpp"

namespace wherry::run {

namespace {

/// What the ranks have in common: MPI wants all blocks alike, but a rank without neighbors may say anything.
bool shows_size(Collective collective, const schedule::Graph& graph) {
  const bool equal =
      collective == Collective::neighbor_alltoall || collective == Collective::neighbor_allgather;
  return equal && graph.is_connected() && !graph.edges().empty();
}

/// The size class of a call.
std::uint32_t bucket(Communicator& c, Collective collective, const NeighborCall& call) {
  const Neighborhood& n = *neighborhood_of(c);
  if (const std::optional<std::uint32_t> shown = shown_bucket(n, collective, call)) return *shown;
  return c.state<Choices>().watches[{collective, false}].follow(average_bytes(n, call), c.channel());
}

}  // namespace

std::string_view reason_to_leave(const Neighborhood& n, bool asked) {
  if (!n.refusal().empty()) return n.refusal();
  return asked || n.is_promising() ? "" : "few neighbors, all on one node";
}

std::optional<std::uint32_t> shown_bucket(const Neighborhood& n, Collective collective,
                                          const NeighborCall& call) {
  if (!shows_size(collective, n.graph())) return std::nullopt;
  const Share& block = call.send.empty() ? call.receive.front() : call.send.front();
  return profile::bucket_of(static_cast<std::uint64_t>(block.bytes));
}

long long average_bytes(const Neighborhood& n, const NeighborCall& call) {
  const auto edges = static_cast<long long>(std::max<std::size_t>(1, call.send.size()));
  return static_cast<long long>(call.bytes_sent(n.topology())) / edges;
}

Described describe_neighbors(Communicator& c, Collective collective, const NeighborCall& call) {
  return {.key = {collective, Limit::none, bucket(c, collective, call)},
          .bytes = static_cast<std::uint64_t>(call.bytes_sent(neighborhood_of(c)->topology()))};
}

}  // namespace wherry::run
