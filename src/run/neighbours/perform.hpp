// Neighbourhood collectives: from the call to the schedule that runs it.
#pragma once

#include <string_view>

#include "run/communicator.hpp"
#include "run/describe.hpp"
#include "run/neighbours/neighbourhood.hpp"
#include "run/staging.hpp"

namespace wherry::run {

/// The neighbourhood of comm, whose state c is; made at the first call, collectively. nullptr: it has no topology.
Neighbourhood* neighbourhood_of(Communicator& c, MPI_Comm comm);

/// Whether this rank's arguments are legal as far as Wherry looks at them. comm must be valid.
template <class Call>
bool is_sound(const mpi::Api& api, const Call& call) {
  NeighbourCall read;
  return read_neighbours(api, call, topology_of(api, call.comm), read);
}

/// Why a call on c must be the library's, alike on all ranks; empty if it need not. asked: for a strategy, by name.
std::string_view reason_to_leave(const Neighbourhood& n, bool asked);

/// What the call in c.neighbourhood is like. Collective.
Described describe_neighbours(Communicator& c, Collective collective);

/// Runs the strategy for the call in c.neighbourhood. Collective; returns an MPI code.
int perform_neighbours(Communicator& c, const CellKey& key, const plan::NeighbourStrategy& strategy,
                       Staging& staging);

}  // namespace wherry::run
