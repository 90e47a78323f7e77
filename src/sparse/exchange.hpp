// A sparse exchange on Wherry's channel.
#pragma once

#include <mpi.h>

#include <map>
#include <optional>
#include <span>

#include "comm/communicator.hpp"
#include "mpi/api.hpp"
#include "sparse/combining.hpp"
#include "sparse/inbox.hpp"
#include "sparse/sparse_strategies.hpp"

namespace wherry::run {

/// What a communicator keeps between its sparse exchanges.
struct SparseState {
  static constexpr StateSlot slot = StateSlot::sparse_exchange;

  bool odd = false;                          // the next exchange
  std::optional<SparseAlgorithm> algorithm;  // by the settings, which do not change
  std::map<const schedule::Strategy*, Forwarding> forwarding;
  Requests requests;
};

/// Where exchanges run, and what their communicator keeps for them.
struct SparseContext {
  const Channel& channel;
  const topology::Placement& placement;
  int rank;
  SparseState& state;
};

inline SparseContext sparse_context(Communicator& c) {
  return {c.channel(), c.placement(), c.rank(), c.state<SparseState>()};
}

/// Sends `sends`, all sound, by an algorithm other than native, and sorts the inbox. Collective; returns an MPI code.
int exchange_sparsely(const SparseContext& context, const SparseAlgorithm& algorithm,
                      std::span<const SparseMessage> sends, Inbox& inbox);

// By the native collectives on the program's communicator: wherever Wherry has none of its own.

/// How many ranks there are to send to: of an intercommunicator, those of the other group.
int destinations(const mpi::Api& api, MPI_Comm comm, int* count);

/// MPI_Alltoall of lengths, then MPI_Alltoallv. comm: any communicator; sends: all sound, may be to this rank.
/// At most 32 GiB from one rank and to one rank, else MPI_ERR_COUNT there. Collective over comm; an error of the
/// library has been passed to its error handler, *handled is true then.
int exchange_natively(const mpi::Api& api, MPI_Comm comm, std::span<const SparseMessage> sends, Inbox& inbox,
                      bool* handled);

}  // namespace wherry::run
