// A sparse exchange on Wherry's channel.
#pragma once

#include <mpi.h>

#include <map>
#include <optional>
#include <span>

#include "run/sparse/combining.hpp"
#include "run/sparse/strategies.hpp"

namespace wherry::run {

class Communicator;

/// What a communicator keeps between its sparse exchanges.
struct SparseState {
  bool odd = false;              // the next exchange
  std::optional<SparseWay> way;  // by the settings, which do not change
  std::map<const schedule::Strategy*, Forwarding> forwarding;
};

/// Sends `sends`, all sound, by a way other than native, and sorts the inbox. Collective over c; returns an MPI code.
int exchange_sparsely(Communicator& c, const SparseWay& way, std::span<const SparseMessage> sends,
                      Inbox& inbox);

}  // namespace wherry::run
