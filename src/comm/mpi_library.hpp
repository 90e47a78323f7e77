// The name of the MPI library, for the keys of the tuning file.
#pragma once

#include <string>

#include "mpi/api.hpp"

namespace wherry::run {

/// The first line of MPI_Get_library_version.
std::string library_name(const mpi::Api& api);

}  // namespace wherry::run
