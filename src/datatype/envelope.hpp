// How a datatype was made.
#pragma once

#include "mpi/api.hpp"

namespace wherry::mpi {

/// What MPI_Type_get_envelope tells (MPI 4.1, 5.1.13).
struct Envelope {
  MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
  bool readable = false;  // the library told
};

/// Also of types made by large-count constructors, of which the function without _c makes an error.
Envelope envelope_of(const Api& api, MPI_Datatype type);

/// The one type that a contiguous type or a duplicate is made of; MPI_DATATYPE_NULL if the library does not tell.
/// The caller frees it unless it is predefined.
MPI_Datatype inner_of(const Api& api, MPI_Datatype type, const Envelope& envelope);

}  // namespace wherry::mpi
