// The agreement of the ranks of a communicator, before Wherry is enabled on it.
//
// Later the ranks also agree on memory for candidates (coll/choice/choosing, progress/factory), on times of rounds
// (coll/state/cell, coll/state/neighborhood) and sizes (coll/state/size_watch), on how collectives wait
// (interpose/wait_policy), on windows to be cached (window/windows) and memory of a node (window/node_memory).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// Whether this process may enable one more communicator.
enum class Capacity { none, enough };

/// Equal on all ranks of the communicator.
struct Agreement {
  std::string_view refusal;  // why Wherry stays away; empty: it does not
  bool learning = false;
  bool trial = false;  // stretches may run natively to be compared
  bool tuning = false;
  bool host_memory = false;         // no rank has an accelerator's runtime loaded
  bool layouts = false;             // all ranks let Wherry move derived types
  std::size_t staging_max = 0;      // bytes: the smallest that any rank allows
  std::size_t reserved_memory = 0;  // bytes: that every rank has reserved for nonblocking calls
};

/// reserved_memory: of this rank. Collective over comm.
Agreement agree(const Settings& settings, Capacity capacity, std::size_t reserved_memory, MPI_Comm comm,
                const mpi::Api& api);

// Every rank hears every rank, on a communicator of the program.

/// The numbers of every rank of comm, in the order of ranks; empty if the library fails.
///
/// mine: equally many on all ranks. Collective over comm, an intracommunicator.
/// By the collective that the program uses on comm anyway: another might take resources of the library for each
/// communicator.
std::vector<long long> ask_all(const mpi::Api& api, MPI_Comm comm, std::span<const long long> mine);

}  // namespace wherry::run
