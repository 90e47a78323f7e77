// Counts beyond int, for libraries without large-count functions: one element of a type that repeats.
#pragma once

#include <mpi.h>

#include "mpi/api.hpp"

namespace wherry::datatype {

/// A committed type with the type map of `count` elements of `type`, made of chunks of at most `most` elements
/// (count <= most^2). Free it with Type_free. Returns an MPI code. The technique is that of BigMPI (Hammond,
/// Schaefer and Latham, 2014).
inline int repeat_type(const mpi::Api& api, long long count, MPI_Datatype type, int most,
                       MPI_Datatype* repeated) {
  MPI_Aint lower = 0, extent = 0;
  int code = api.Type_get_extent(type, &lower, &extent);
  if (code != MPI_SUCCESS) return code;
  const long long chunks = count / most;
  MPI_Datatype chunk = MPI_DATATYPE_NULL, body = MPI_DATATYPE_NULL;
  code = api.Type_contiguous(most, type, &chunk);
  if (code == MPI_SUCCESS) code = api.Type_contiguous(static_cast<int>(chunks), chunk, &body);
  if (code == MPI_SUCCESS) {
    int lengths[2] = {1, static_cast<int>(count % most)};
    MPI_Aint displacements[2] = {0, static_cast<MPI_Aint>(chunks) * most * extent};
    MPI_Datatype parts[2] = {body, type};
    code = api.Type_create_struct(2, lengths, displacements, parts, repeated);
  }
  if (chunk != MPI_DATATYPE_NULL) api.Type_free(&chunk);
  if (body != MPI_DATATYPE_NULL) api.Type_free(&body);
  return code == MPI_SUCCESS ? api.Type_commit(repeated) : code;
}

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

}  // namespace wherry::datatype
