// MPI's functions as Wherry itself calls them in the preload: its own agreements wait as the program's calls do.
#pragma once

#include "mpi/api.hpp"

namespace wherry::interpose {

/// The same table, with collectives that poll where Patience says so in their communicator. library must outlive the
/// result, and is the same for all calls.
mpi::Api patient_api(const mpi::Api& library);

}  // namespace wherry::interpose
