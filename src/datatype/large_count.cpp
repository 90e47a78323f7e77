#include "datatype/large_count.hpp"

namespace wherry::run {

int repeat_type(const mpi::Api& api, long long count, MPI_Datatype type, int most, MPI_Datatype* repeated) {
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

}  // namespace wherry::run
