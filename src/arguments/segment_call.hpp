// One call of a collective on segments, whatever its arguments are called.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "arguments/calls.hpp"
#include "arguments/operators.hpp"
#include "datatype/type_facts.hpp"
#include "schedule/segment_schedule.hpp"

namespace wherry::run {

// Where the segments of a buffer lie.

/// A buffer of `units` units of `unit_bytes` bytes, cut into segments as evenly as whole units allow. Some may be
/// empty. Or, with `begins`, cut where these say: one for each segment, and the end.
struct Cut {
  long long units = 0;
  long long unit_bytes = 1;
  int segments = 1;
  const std::vector<long long>* begins = nullptr;
  long long widest = 0;  // with begins: bytes of the largest segment

  /// Bytes from the start of the buffer.
  long long begin(int segment) const {
    if (begins != nullptr) return (*begins)[static_cast<std::size_t>(segment)];
    return segments == 0 ? 0 : units * segment / segments * unit_bytes;
  }
  long long bytes(const schedule::SegmentRange& range) const {
    return begin(range.end()) - begin(range.first);
  }
  long long total() const { return units * unit_bytes; }
  /// No segment has more bytes.
  long long largest() const {
    if (begins != nullptr) return widest;
    return segments == 0 ? 0 : (units + segments - 1) / segments * unit_bytes;
  }
};

inline constexpr const int* no_numbers = nullptr;

/// What a rank has, or gets, at its end: blocks first, first + 1, ... of the collective's buffer, in pieces of the
/// caller's memory.
struct Side {
  const void* address = nullptr;
  long long count = 0;  // elements of a piece, where all are equal
  MPI_Datatype type = MPI_BYTE;
  datatype::TypeFacts facts;
  int first = 0;
  int blocks = 0;      // 0: nothing, and all else is meaningless
  bool whole = false;  // one piece holds all blocks; else there is one for each
  Numbers counts = no_numbers, displacements = no_numbers;  // of the pieces, in elements, where they differ

  int pieces() const { return whole ? std::min(blocks, 1) : blocks; }
  datatype::Region piece(int i) const;
  /// Bytes that the caller says a piece has.
  long long piece_bytes(int i) const { return piece(i).count * facts.size; }
};

/// Where the buffer has no blocks, it is a single one here.
struct SegmentCall {
  bool valid = false;  // false: arguments that only the library should validate
  int root = 0;        // of the collectives that have one
  int blocks = 1;      // of the buffer
  long long block_bytes =
      0;  // of each, by what is sent where this rank knows that; on average, where they differ
  long long unit_bytes = 1;  // what may not be cut
  bool differ = false;       // the blocks: begins and widest say how
  std::vector<long long> begins;
  long long widest = 0;
  Side in;
  Side out;
  // Of a reduction:
  Operator reduces = Operator::unknown;
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  datatype::TypeMemory types;
  OperatorMemory operators;

  long long total_bytes() const { return differ ? begins.back() : blocks * block_bytes; }
  long long begin_of(int block) const {
    return differ ? begins[static_cast<std::size_t>(block)] : block * block_bytes;
  }
  long long bytes_of(int block) const { return begin_of(block + 1) - begin_of(block); }
};

/// A rank among the ranks of a call.
struct Position {
  int rank;
  int size;
};

/// Fills `call`, reusing what it remembers of types and operations.
void read_segments(const mpi::Api& api, const Allgather& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Allgatherv& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Bcast& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Gather& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Scatter& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Reduce& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Allreduce& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const ReduceScatterBlock& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const ReduceScatter& c, const Position& at, SegmentCall& call);
void read_segments(const mpi::Api& api, const Barrier& c, const Position& at, SegmentCall& call);

}  // namespace wherry::run
