// The arguments of the collectives that Wherry can replace, as MPI names and orders them, counts widened.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "base/collective.hpp"

namespace wherry::run {

/// An array of counts or displacements as MPI passes them: a read-only view of int or 64-bit numbers; does not own
/// them.
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

/// Of collectives in which all blocks are equally long.
template <Collective which>
struct EqualBlockArguments {
  static constexpr Collective collective = which;

  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Each block has a count and a displacement, in units of the type's extent.
template <Collective which>
struct CountedBlockArguments {
  static constexpr Collective collective = which;

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

/// Each block has a type, too: displacements in bytes.
template <Collective which>
struct TypedBlockArguments {
  static constexpr Collective collective = which;

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

/// One block is sent, to all; those received have counts and displacements, in units of the type's extent.
template <Collective which>
struct GatheredBlockArguments {
  static constexpr Collective collective = which;

  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  Numbers recvcounts;
  Numbers displs;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Equally long blocks of or for one rank, where alone what is received, or sent, matters.
template <Collective which>
struct RootedBlockArguments {
  static constexpr Collective collective = which;

  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  int root;
  MPI_Comm comm;
};

// Alltoall, Gather, NeighborAllgatherv and their like (MPI 4.1, 6.5 to 6.8 and 8.6), of the templates above.
#include "calls.inc"

/// Arguments of MPI_Bcast (MPI 4.1, 6.4).
struct Bcast {
  static constexpr Collective collective = Collective::bcast;

  void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  int root;
  MPI_Comm comm;
};

/// Arguments of MPI_Reduce (MPI 4.1, 6.9.1).
struct Reduce {
  static constexpr Collective collective = Collective::reduce;

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
  static constexpr Collective collective = Collective::allreduce;

  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
};

/// Arguments of MPI_Reduce_scatter_block (MPI 4.1, 6.10.1): recvcount elements for each rank.
struct ReduceScatterBlock {
  static constexpr Collective collective = Collective::reduce_scatter_block;

  const void* sendbuf;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
};

/// Arguments of MPI_Reduce_scatter (MPI 4.1, 6.10.2): recvcounts[i] elements for rank i.
struct ReduceScatter {
  static constexpr Collective collective = Collective::reduce_scatter;

  const void* sendbuf;
  void* recvbuf;
  Numbers recvcounts;
  MPI_Datatype datatype;
  MPI_Op op;
  MPI_Comm comm;
};

/// Arguments of MPI_Barrier (MPI 4.1, 6.3).
struct Barrier {
  static constexpr Collective collective = Collective::barrier;

  MPI_Comm comm;
};

/// Which collective such arguments belong to.
template <class Call>
inline constexpr Collective collective_of = Call::collective;

}  // namespace wherry::run
