// A sparse exchange on Wherry's channel.
#pragma once

#include <mpi.h>

#include <map>
#include <optional>
#include <span>

#include "sparse/combining.hpp"
#include "sparse/sparse_strategies.hpp"

namespace wherry::run {

/// What a communicator keeps between its sparse exchanges.
struct SparseState {
  bool odd = false;                          // the next exchange
  std::optional<SparseAlgorithm> algorithm;  // by the settings, which do not change
  std::map<const schedule::Strategy*, Forwarding> forwarding;
};

/// Where exchanges run, and what their communicator keeps for them.
struct SparseContext {
  const Channel& channel;
  const topology::Placement& placement;
  int rank;
  SparseState& state;
  Requests& requests;
};

/// Sends `sends`, all sound, by an algorithm other than native, and sorts the inbox. Collective; returns an MPI code.
int exchange_sparsely(const SparseContext& context, const SparseAlgorithm& algorithm,
                      std::span<const SparseMessage> sends, Inbox& inbox);

}  // namespace wherry::run
