// One call of a collective on segments, whatever its arguments are called.
#pragma once

#include <mpi.h>

#include "run/calls.hpp"
#include "run/datatype.hpp"
#include "run/segments/cut.hpp"
#include "run/segments/operators.hpp"

namespace wherry::run {

/// What a rank has, or gets, at its end: blocks one after the other in the caller's memory, which are blocks
/// first, first + 1, ... of the collective's buffer.
struct Side {
  const void* address = nullptr;
  long long count = 0;  // elements of a block
  MPI_Datatype type = MPI_BYTE;
  TypeFacts facts;
  int first = 0;
  int blocks = 0;  // 0: nothing, and all else is meaningless

  /// Bytes that the caller says a block has.
  long long block_bytes() const { return count * facts.size; }
  Region block(int i) const;
};

/// Where the buffer has no blocks, it is a single one here.
struct SegmentCall {
  bool valid = false;         // false: arguments that only the library should judge
  int root = 0;               // of the collectives that have one
  int blocks = 1;             // of the buffer
  long long block_bytes = 0;  // of each, by what is sent where this rank knows that
  long long unit_bytes = 1;   // what may not be cut
  Side in;
  Side out;
  // Of a reduction:
  Operator reduces = Operator::unknown;
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TypeMemory types;
  OperatorMemory operators;

  long long total_bytes() const { return blocks * block_bytes; }
};

/// A rank among the ranks of a call.
struct Position {
  int rank;
  int size;
};

/// Fills `call`, reusing what it remembers of types and operations.
void read_segments(const mpi::Api& api, const Allgather& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Bcast& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Gather& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Scatter& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Reduce& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Allreduce& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const ReduceScatterBlock& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Barrier& c, const Position& at, SegmentCall& call);

}  // namespace wherry::run
