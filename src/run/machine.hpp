// Names of this machine and its MPI library, for the keys of the tuning file.
#pragma once

#include <string>

#include "mpi/api.hpp"

namespace wherry::run {

/// The processor's model and how many there are: equal for equal nodes of a cluster.
std::string machine_name();

/// The first line of MPI_Get_library_version.
std::string library_name(const mpi::Api& api);

}  // namespace wherry::run
