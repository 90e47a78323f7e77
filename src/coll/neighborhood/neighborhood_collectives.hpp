// Neighborhood collectives: from the call to the schedule that runs it.
#pragma once

#include <optional>
#include <string_view>

#include "coll/choice/description.hpp"
#include "coll/state/neighborhood.hpp"
#include "coll/state/task.hpp"

namespace wherry::run {

/// Whether this rank's arguments are legal as far as Wherry reads them. comm must be valid.
template <class Call>
bool is_sound(const mpi::Api& api, const Call& call) {
  NeighborCall read;
  return read_neighbors(api, call, topology_of(api, call.comm), read);
}

/// Why a call on c must be native, alike on all ranks; empty if it need not. asked: for a strategy, by name.
std::string_view reason_to_leave(const Neighborhood& n, bool asked);

/// A neighborhood collective.
template <class Call>
concept Neighborly = is_neighborhood(collective_of<Call>);

/// The blocks of a call, by rank. False: arguments that only the library should validate, or neighbors that are not
/// known.
template <Neighborly Call>
bool read_joined(const mpi::Api& api, const Call& call, const Communicator& c, Arguments& to) {
  const Neighborhood* const n = neighborhood_of(c);
  if (n == nullptr || !read_neighbors(api, call, n->topology(), to.neighbors)) return false;
  to.joined.emplace(api, to.neighbors, n->ports(collective_of<Call>), c.size(), c.rank(), to.blocks);
  return true;
}

/// What the call is like. Collective.
Described describe_neighbors(Communicator& c, Collective collective, const NeighborCall& call);

/// The size class of a call that shows it alike on all ranks; none: it is to be agreed on.
std::optional<std::uint32_t> shown_bucket(const Neighborhood& n, Collective collective,
                                          const NeighborCall& call);
/// Bytes that this rank sends along an edge, on average.
long long average_bytes(const Neighborhood& n, const NeighborCall& call);

}  // namespace wherry::run
