// The agreement of the ranks of a communicator, before Wherry is enabled on it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string_view>

#include "base/settings.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// Whether this process may join one more communicator.
enum class Capacity { none, enough };

/// Equal on all ranks of the communicator.
struct Agreement {
  std::string_view refusal;  // why Wherry stays away; empty: it does not
  bool learning = false;
  bool tuning = false;
  bool host_memory = false;         // no rank has an accelerator's runtime loaded
  std::size_t staging_max = 0;      // bytes: the smallest that any rank allows
  std::size_t reserved_memory = 0;  // bytes: that every rank has reserved for non-blocking calls
};

/// Whether a library is loaded that may hand device memory to MPI.
bool accelerator_loaded();

/// reserved_memory: of this rank. Collective over comm.
Agreement agree(const Settings& settings, Capacity capacity, std::size_t reserved_memory, MPI_Comm comm,
                const mpi::Api& api);

}  // namespace wherry::run
