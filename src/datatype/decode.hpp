// From an MPI datatype to a layout.
#pragma once

#include <mpi.h>

#include <optional>

#include "layout/layout.hpp"
#include "mpi/api.hpp"

namespace wherry::datatype {

/// Where the data of one element lie, counted from its address; in the order of the type map.
///
/// Follows the type's constructors (MPI 4.1, 5.1.13): all of MPI 3.1's, and large counts. Nothing for what cannot be
/// expressed: unknown constructors, offsets beyond 64 bits, and types of which the library says another size or other
/// bounds than their constructors mean. The type need not be committed. Must not be MPI_DATATYPE_NULL.
std::optional<layout::Layout> decode(const mpi::Api& api, MPI_Datatype type);

}  // namespace wherry::datatype
