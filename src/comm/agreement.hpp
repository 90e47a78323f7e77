// What the ranks of a communicator settle among themselves before Wherry joins it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string_view>

#include "base/settings.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// Whether this process may join one more communicator.
enum class Room { none, enough };

/// Equal on all ranks of the communicator.
struct Terms {
  std::string_view refusal;  // why Wherry stays away; empty: it does not
  bool learning = false;
  bool tuning = false;
  bool host_memory = false;     // no rank has an accelerator's runtime loaded
  std::size_t staging_max = 0;  // bytes: the smallest that any rank allows
  std::size_t set_aside = 0;    // bytes: that every rank has set aside for non-blocking calls
};

/// Whether a library is loaded that may hand device memory to MPI.
bool accelerator_loaded();

/// set_aside: of this rank. Collective over comm.
Terms settle_terms(const Settings& settings, Room room, std::size_t set_aside, MPI_Comm comm,
                   const mpi::Api& api);

}  // namespace wherry::run
