// The arguments of the collectives that Wherry can replace, as MPI names and orders them, counts widened.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/collective.hpp"

namespace wherry::run {

// Arrays of counts or displacements as MPI passes them: int, or the large-count types.

/// A read-only view of int or 64-bit numbers; does not own them.
class Numbers {
 public:
  Numbers(const int* values) : narrow_(values) {}
  Numbers(const std::int64_t* values) : wide_(values) {}
  Numbers(const long long* values) : wide_(reinterpret_cast<const std::int64_t*>(values)) {}

  std::int64_t operator[](int i) const { return narrow_ != nullptr ? narrow_[i] : wide_[i]; }
  bool empty() const { return narrow_ == nullptr && wide_ == nullptr; }

 private:
  const int* narrow_ = nullptr;
  const std::int64_t* wide_ = nullptr;
};

/// Arguments of MPI_Alltoall (MPI 4.1, 6.8), counts widened.
struct Alltoall {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Alltoallv: displacements in units of the type's extent.
struct Alltoallv {
  const void* sendbuf;
  Numbers sendcounts;
  Numbers sdispls;
  MPI_Datatype sendtype;
  void* recvbuf;
  Numbers recvcounts;
  Numbers rdispls;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Alltoallw: displacements in bytes, one type per rank.
struct Alltoallw {
  const void* sendbuf;
  Numbers sendcounts;
  Numbers sdispls;
  const MPI_Datatype* sendtypes;
  void* recvbuf;
  Numbers recvcounts;
  Numbers rdispls;
  const MPI_Datatype* recvtypes;
  MPI_Comm comm;
};

/// Arguments of MPI_Allgather (MPI 4.1, 6.7).
struct Allgather {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Allgatherv (MPI 4.1, 6.7): displacements in units of the type's extent.
struct Allgatherv {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  Numbers recvcounts;
  Numbers displs;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Bcast (MPI 4.1, 6.4).
struct Bcast {
  void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  int root;
  MPI_Comm comm;
};

/// Arguments of MPI_Gather (MPI 4.1, 6.5); what is received matters at the root only.
struct Gather {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  int root;
  MPI_Comm comm;
};

/// Arguments of MPI_Scatter (MPI 4.1, 6.6); what is sent matters at the root only.
struct Scatter {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  int root;
  MPI_Comm comm;
};

/// Arguments of MPI_Reduce (MPI 4.1, 6.9.1).
struct Reduce {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  MPI_Datatype datatype;
  MPI_Op op;
  int root;
  MPI_Comm comm;
};

/// Arguments of MPI_Allreduce (MPI 4.1, 6.9.6).
struct Allreduce {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
};

/// Arguments of MPI_Reduce_scatter_block (MPI 4.1, 6.10.1): recvcount elements for each rank.
struct ReduceScatterBlock {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
};

/// Arguments of MPI_Reduce_scatter (MPI 4.1, 6.10.2): recvcounts[i] elements for rank i.
struct ReduceScatter {
  const void* sendbuf;
  void* recvbuf;
  Numbers recvcounts;
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
};

/// Arguments of MPI_Barrier (MPI 4.1, 6.3).
struct Barrier {
  MPI_Comm comm;
};

/// Arguments of MPI_Neighbor_alltoall (MPI 4.1, 8.6.2), counts widened.
struct NeighborAlltoall {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Neighbor_alltoallv: displacements in units of the type's extent.
struct NeighborAlltoallv {
  const void* sendbuf;
  Numbers sendcounts;
  Numbers sdispls;
  MPI_Datatype sendtype;
  void* recvbuf;
  Numbers recvcounts;
  Numbers rdispls;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Neighbor_alltoallw: displacements in bytes, one type per neighbor.
struct NeighborAlltoallw {
  const void* sendbuf;
  Numbers sendcounts;
  Numbers sdispls;
  const MPI_Datatype* sendtypes;
  void* recvbuf;
  Numbers recvcounts;
  Numbers rdispls;
  const MPI_Datatype* recvtypes;
  MPI_Comm comm;
};

/// Arguments of MPI_Neighbor_allgather (MPI 4.1, 8.6.1), counts widened.
struct NeighborAllgather {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Neighbor_allgatherv: displacements in units of the type's extent.
struct NeighborAllgatherv {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  Numbers recvcounts;
  Numbers displs;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Which collective such arguments belong to.
template <class Call>
inline constexpr Collective collective_of = [] {
  if constexpr (std::is_same_v<Call, Alltoall>) return Collective::alltoall;
  else if constexpr (std::is_same_v<Call, Alltoallv>) return Collective::alltoallv;
  else if constexpr (std::is_same_v<Call, Alltoallw>) return Collective::alltoallw;
  else if constexpr (std::is_same_v<Call, Allgather>) return Collective::allgather;
  else if constexpr (std::is_same_v<Call, Allgatherv>) return Collective::allgatherv;
  else if constexpr (std::is_same_v<Call, Bcast>) return Collective::bcast;
  else if constexpr (std::is_same_v<Call, Gather>) return Collective::gather;
  else if constexpr (std::is_same_v<Call, Scatter>) return Collective::scatter;
  else if constexpr (std::is_same_v<Call, Reduce>) return Collective::reduce;
  else if constexpr (std::is_same_v<Call, Allreduce>) return Collective::allreduce;
  else if constexpr (std::is_same_v<Call, ReduceScatterBlock>) return Collective::reduce_scatter_block;
  else if constexpr (std::is_same_v<Call, ReduceScatter>) return Collective::reduce_scatter;
  else if constexpr (std::is_same_v<Call, NeighborAlltoall>) return Collective::neighbor_alltoall;
  else if constexpr (std::is_same_v<Call, NeighborAlltoallv>) return Collective::neighbor_alltoallv;
  else if constexpr (std::is_same_v<Call, NeighborAlltoallw>) return Collective::neighbor_alltoallw;
  else if constexpr (std::is_same_v<Call, NeighborAllgather>) return Collective::neighbor_allgather;
  else if constexpr (std::is_same_v<Call, NeighborAllgatherv>) return Collective::neighbor_allgatherv;
  else return Collective::barrier;
}();

}  // namespace wherry::run
