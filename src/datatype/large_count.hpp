// Counts beyond int, for libraries without large-count functions: one element of a type that repeats.
#pragma once

#include <mpi.h>

#include "mpi/api.hpp"

namespace wherry::run {

/// A committed type with the type map of `count` elements of `type`, made of chunks of at most `most` elements
/// (count <= most^2). Free it with Type_free. Returns an MPI code. The technique is that of BigMPI (Hammond,
/// Schaefer and Latham, 2014).
int repeat_type(const mpi::Api& api, long long count, MPI_Datatype type, int most, MPI_Datatype* repeated);

/// Calls `use(int count, MPI_Datatype)` with arguments that stand for `count` elements of `type`.
template <class Use>
int with_int_count(const mpi::Api& api, long long count, MPI_Datatype type, int most, Use use) {
  if (count <= most) return use(static_cast<int>(count), type);
  MPI_Datatype repeated = MPI_DATATYPE_NULL;
  if (const int code = repeat_type(api, count, type, most, &repeated); code != MPI_SUCCESS) return code;
  const int code = use(1, repeated);
  api.Type_free(&repeated);  // lives on until pending communication has ended (MPI 4.1, 5.1.9)
  return code;
}

}  // namespace wherry::run
