// Short forms of MPI functions that the applications need around their exchanges.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace apps {

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// The result of a reduction of one number, on all ranks.
inline int reduced(int mine, MPI_Op op, MPI_Comm comm) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, op, comm);
  return all;
}
inline std::uint64_t reduced(std::uint64_t mine, MPI_Op op, MPI_Comm comm) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, op, comm);
  return all;
}
inline double reduced(double mine, MPI_Op op, MPI_Comm comm) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, comm);
  return all;
}

/// The ranks that can share memory with this one, in their order. To be freed. Collective.
inline MPI_Comm node_of(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_of(comm), MPI_INFO_NULL, &node);
  return node;
}

/// Whether all ranks can share memory. Collective.
inline bool on_one_node(MPI_Comm comm) {
  MPI_Comm node = node_of(comm);
  const bool all = size_of(node) == size_of(comm);
  MPI_Comm_free(&node);
  return all;
}

inline bool on_all(bool mine, MPI_Comm comm) { return reduced(mine ? 1 : 0, MPI_MIN, comm) == 1; }

}  // namespace apps
