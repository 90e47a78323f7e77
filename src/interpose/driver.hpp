// Who goes on with non-blocking collectives: the MPI library itself, whenever it waits for anything.
#pragma once

#include <functional>

#include "mpi/api.hpp"

namespace wherry::interpose {

/// For run::Runtime::drive(); empty if the library has no way to be taken part in.
std::function<void()> driver(const mpi::Api& api);

}  // namespace wherry::interpose
