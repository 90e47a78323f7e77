// Short forms of MPI functions that applications and benchmarks need around their exchanges.
#pragma once

#include <mpi.h>

#include <type_traits>
#include <vector>

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

inline MPI_Datatype number_type(int) { return MPI_INT; }
inline MPI_Datatype number_type(long) { return MPI_LONG; }
inline MPI_Datatype number_type(long long) { return MPI_LONG_LONG; }
inline MPI_Datatype number_type(unsigned long) { return MPI_UNSIGNED_LONG; }
inline MPI_Datatype number_type(double) { return MPI_DOUBLE; }

/// The result of a reduction of one number, on all ranks.
template <class Number>
  requires std::is_arithmetic_v<Number>
Number reduced(Number mine, MPI_Op op, MPI_Comm comm) {
  Number all = 0;
  MPI_Allreduce(&mine, &all, 1, number_type(mine), op, comm);
  return all;
}

/// Number by number, as many on all ranks.
template <class Number>
std::vector<Number> reduced(const std::vector<Number>& mine, MPI_Op op, MPI_Comm comm) {
  std::vector<Number> all(mine.size());
  // SMPI divides by the count.
  if (mine.empty()) return all;
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), number_type(Number{}), op, comm);
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
