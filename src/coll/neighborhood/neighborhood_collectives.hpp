// Neighbourhood collectives: from the call to the schedule that runs it.
#pragma once

#include <optional>
#include <string_view>

#include "arguments/arguments.hpp"
#include "coll/choice/description.hpp"
#include "coll/state/communicator.hpp"
#include "coll/state/neighborhood.hpp"
#include "comm/staging.hpp"

namespace wherry::run {

/// Whether this rank's arguments are legal as far as Wherry looks at them. comm must be valid.
template <class Call>
bool is_sound(const mpi::Api& api, const Call& call) {
  NeighbourCall read;
  return read_neighbours(api, call, topology_of(api, call.comm), read);
}

/// Why a call on c must be the library's, alike on all ranks; empty if it need not. asked: for a strategy, by name.
std::string_view reason_to_leave(const Neighbourhood& n, bool asked);

/// A neighbourhood collective.
template <class Call>
concept Neighbourly = is_neighbourhood(collective_of<Call>);

/// The blocks of a call, by rank. False: arguments that only the library should judge, or neighbours that are not known.
template <Neighbourly Call>
bool read_joined(const mpi::Api& api, const Call& call, const Communicator& c, Arguments& to) {
  const Neighbourhood* const n = c.neighbourhood.get();
  if (n == nullptr || !read_neighbours(api, call, n->topology(), to.neighbours)) return false;
  to.joined.emplace(api, to.neighbours, n->ports(collective_of<Call>), c.size(), c.rank(), to.blocks);
  return true;
}

/// What the call in c.neighbourhood is like. Collective.
Described describe_neighbours(Communicator& c, Collective collective);

/// The size class of a call that shows it alike on all ranks; none: it is to be agreed on.
std::optional<std::uint32_t> shown_bucket(const Neighbourhood& n, Collective collective,
                                          const NeighbourCall& call);
/// Bytes that this rank sends along an edge, on average.
long long average_bytes(const Neighbourhood& n, const NeighbourCall& call);

/// How blocks travel that are too large to be combined.
const Prepared& large_block_schedule(Neighbourhood& n);

/// Runs the strategy for the call in c.neighbourhood. Collective; returns an MPI code.
int perform_neighbours(Communicator& c, const CellKey& key, const schedule::NeighbourStrategy& strategy,
                       Staging& staging);

}  // namespace wherry::run
