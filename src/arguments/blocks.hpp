// The three all-to-alls seen alike: for each peer, a region to send and a region to receive.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "arguments/calls.hpp"
#include "datatype/type_facts.hpp"

namespace wherry::run {

/// One peer's share of a buffer.
struct Share {
  datatype::Region region;
  long long bytes = 0;
  bool dense = false;
};

/// What one rank sends to and receives from every rank in one call.
struct Blocks {
  std::vector<Share> send;
  std::vector<Share> receive;
  MPI_Comm comm = MPI_COMM_NULL;    // the program's, of the last call
  bool in_place = false;            // send is empty: data to send lies where data is received
  bool typed = false;               // each block has a type of its own: MPI_Alltoallw
  bool valid = false;               // false: arguments that only the library should validate
  bool untyped = false;             // MPI_DATATYPE_NULL on a side without data, in MPI_Alltoallv
  std::optional<int> untyped_code;  // the library's answer to that, once it was asked
  datatype::TypeMemory types;

  long long bytes_sent() const;
  /// Size of each block where all are equal: what is sent, which all ranks see alike, whatever one of them expects.
  long long block_bytes() const { return (in_place ? receive : send).front().bytes; }
};

/// Fills `blocks` for one call on `size` ranks, reusing its memory.
void read_blocks(const mpi::Api& api, const Alltoall& call, int size, Blocks& blocks);
void read_blocks(const mpi::Api& api, const Alltoallv& call, int size, Blocks& blocks);
void read_blocks(const mpi::Api& api, const Alltoallw& call, int size, Blocks& blocks);

/// Blocks of equal size, one after the other: as many as `shares` has; if that is none, nothing else is looked at.
/// false if the count or the type is not legal.
bool read_equal(const mpi::Api& api, const void* base, long long count, MPI_Datatype type,
                datatype::TypeMemory& memory, std::vector<Share>& shares);
/// Blocks with counts and displacements of their own, in units of one type.
bool read_vector(const mpi::Api& api, const void* base, Numbers counts, Numbers displacements,
                 MPI_Datatype type, datatype::TypeMemory& memory, std::vector<Share>& shares);
/// Blocks with types of their own too, displacements in bytes.
bool read_typed(const mpi::Api& api, const void* base, Numbers counts, Numbers displacements,
                const MPI_Datatype* types, datatype::TypeMemory& memory, std::vector<Share>& shares);

}  // namespace wherry::run
