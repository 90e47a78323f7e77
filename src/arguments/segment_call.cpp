#include "arguments/segment_call.hpp"

#include <algorithm>

namespace wherry::run {

namespace {

/// Blocks in the caller's memory; an address for each follows from the first.
struct Buffer {
  const void* address;
  long long count;
  MPI_Datatype type;
};

bool set(const mpi::Api& api, SegmentCall& call, Side& side, const Buffer& buffer, int first, int blocks) {
  if (buffer.count < 0 || buffer.type == MPI_DATATYPE_NULL) return false;
  side = {.address = buffer.address,
          .count = buffer.count,
          .type = buffer.type,
          .facts = call.types.facts_of(api, buffer.type),
          .first = first,
          .blocks = blocks};
  return side.facts.size >= 0;
}

void start(SegmentCall& call, int root, int blocks) {
  call.valid = false;
  call.root = root;
  call.blocks = blocks;
  call.block_bytes = 0;
  call.unit_bytes = 1;
  call.differ = false;
  call.in = {};
  call.out = {};
  call.reduces = Operator::unknown;
}

bool is_rank(int root, const Position& at) { return 0 <= root && root < at.size; }

/// The part of `all` that is one block of it.
Side part(const Side& all, int block) {
  const datatype::Region piece = all.piece(block);
  return {.address = piece.address,
          .count = piece.count,
          .type = all.type,
          .facts = all.facts,
          .first = block,
          .blocks = 1};
}

/// Blocks of as many elements as `counts` says, of `size` bytes each; false if a count is not legal.
bool set_blocks(SegmentCall& call, Numbers counts, long long size) {
  call.differ = true;
  call.widest = 0;
  call.begins.assign(1, 0);
  for (int i = 0; i < call.blocks; ++i) {
    if (counts[i] < 0) return false;
    const long long bytes = counts[i] * size;
    call.begins.push_back(call.begins.back() + bytes);
    call.widest = std::max(call.widest, bytes);
  }
  // Rounded up: a call with any data has data.
  call.block_bytes = (call.begins.back() + call.blocks - 1) / call.blocks;
  return true;
}

/// What is reduced: elements without gaps, for whose operation there is a rule.
bool set_reduction(const mpi::Api& api, SegmentCall& call, const Side& data, MPI_Op op) {
  if (!data.facts.dense || data.facts.size == 0) return false;
  call.op = op;
  call.type = data.type;
  call.reduces = call.operators.classify(api, op, data.type, data.facts.predefined);
  call.unit_bytes = data.facts.size;
  return call.reduces != Operator::unknown;
}

}  // namespace

datatype::Region Side::piece(int i) const {
  const bool listed = !counts.empty();
  const long long displacement = listed ? displacements[i] : i * count;
  // Through integers: the address may be MPI_BOTTOM.
  const auto at = reinterpret_cast<MPI_Aint>(address) + static_cast<MPI_Aint>(displacement * facts.extent);
  return {reinterpret_cast<const void*>(at), listed ? counts[i] : count, type};
}

void read_segments(const mpi::Api& api, const Allgather& c, const Position& at, SegmentCall& call) {
  start(call, 0, at.size);
  if (!set(api, call, call.out, {c.recvbuf, c.recvcount, c.recvtype}, 0, at.size)) return;
  if (c.sendbuf == MPI_IN_PLACE) {
    call.in = part(call.out, at.rank);
  } else if (!set(api, call, call.in, {c.sendbuf, c.sendcount, c.sendtype}, at.rank, 1)) {
    return;
  }
  call.block_bytes = call.in.piece_bytes(0);
  call.valid = true;
}

void read_segments(const mpi::Api& api, const Allgatherv& c, const Position& at, SegmentCall& call) {
  start(call, 0, at.size);
  if (c.recvcounts.empty() || c.displs.empty() ||
      !set(api, call, call.out, {c.recvbuf, 0, c.recvtype}, 0, at.size) ||
      !set_blocks(call, c.recvcounts, call.out.facts.size))
    return;
  call.out.counts = c.recvcounts;
  call.out.displacements = c.displs;
  if (c.sendbuf == MPI_IN_PLACE) {
    call.in = part(call.out, at.rank);
  } else if (!set(api, call, call.in, {c.sendbuf, c.sendcount, c.sendtype}, at.rank, 1)) {
    return;
  }
  // What this rank gives must be what the others expect, for they know only their own arguments.
  call.valid = call.in.piece_bytes(0) == call.bytes_of(at.rank);
}

void read_segments(const mpi::Api& api, const Bcast& c, const Position& at, SegmentCall& call) {
  start(call, c.root, 1);
  Side& mine = at.rank == c.root ? call.in : call.out;
  if (!is_rank(c.root, at) || !set(api, call, mine, {c.buffer, c.count, c.datatype}, 0, 1)) return;
  call.block_bytes = mine.piece_bytes(0);
  call.valid = true;
}

void read_segments(const mpi::Api& api, const Gather& c, const Position& at, SegmentCall& call) {
  start(call, c.root, at.size);
  if (!is_rank(c.root, at)) return;
  const bool is_root = at.rank == c.root;
  if (is_root && !set(api, call, call.out, {c.recvbuf, c.recvcount, c.recvtype}, 0, at.size)) return;
  if (is_root && c.sendbuf == MPI_IN_PLACE) {
    call.in = part(call.out, at.rank);
  } else if (!set(api, call, call.in, {c.sendbuf, c.sendcount, c.sendtype}, at.rank, 1)) {
    return;
  }
  call.block_bytes = call.in.piece_bytes(0);
  call.valid = true;
}

void read_segments(const mpi::Api& api, const Scatter& c, const Position& at, SegmentCall& call) {
  start(call, c.root, at.size);
  if (!is_rank(c.root, at)) return;
  const bool is_root = at.rank == c.root;
  if (is_root && !set(api, call, call.in, {c.sendbuf, c.sendcount, c.sendtype}, 0, at.size)) return;
  const bool keeps = is_root && c.recvbuf == MPI_IN_PLACE;
  if (!keeps && !set(api, call, call.out, {c.recvbuf, c.recvcount, c.recvtype}, at.rank, 1)) return;
  call.block_bytes = (is_root ? call.in : call.out).piece_bytes(0);
  call.valid = true;
}

void read_segments(const mpi::Api& api, const Reduce& c, const Position& at, SegmentCall& call) {
  start(call, c.root, 1);
  if (!is_rank(c.root, at)) return;
  const bool is_root = at.rank == c.root;
  const void* const mine = is_root && c.sendbuf == MPI_IN_PLACE ? c.recvbuf : c.sendbuf;
  if (mine == MPI_IN_PLACE || !set(api, call, call.in, {mine, c.count, c.datatype}, 0, 1)) return;
  if (is_root && !set(api, call, call.out, {c.recvbuf, c.count, c.datatype}, 0, 1)) return;
  call.block_bytes = call.in.piece_bytes(0);
  call.valid = set_reduction(api, call, call.in, c.op);
}

void read_segments(const mpi::Api& api, const Allreduce& c, const Position&, SegmentCall& call) {
  start(call, 0, 1);
  const void* const mine = c.sendbuf == MPI_IN_PLACE ? c.recvbuf : c.sendbuf;
  if (!set(api, call, call.in, {mine, c.count, c.datatype}, 0, 1) ||
      !set(api, call, call.out, {c.recvbuf, c.count, c.datatype}, 0, 1))
    return;
  call.block_bytes = call.in.piece_bytes(0);
  call.valid = set_reduction(api, call, call.in, c.op);
}

void read_segments(const mpi::Api& api, const ReduceScatterBlock& c, const Position& at, SegmentCall& call) {
  start(call, 0, at.size);
  const void* const mine = c.sendbuf == MPI_IN_PLACE ? c.recvbuf : c.sendbuf;
  if (!set(api, call, call.in, {mine, c.recvcount, c.datatype}, 0, at.size) ||
      !set(api, call, call.out, {c.recvbuf, c.recvcount, c.datatype}, at.rank, 1))
    return;
  call.block_bytes = call.out.piece_bytes(0);
  call.valid = set_reduction(api, call, call.in, c.op);
}

void read_segments(const mpi::Api& api, const ReduceScatter& c, const Position& at, SegmentCall& call) {
  start(call, 0, at.size);
  const void* const mine = c.sendbuf == MPI_IN_PLACE ? c.recvbuf : c.sendbuf;
  if (c.recvcounts.empty() ||
      !set(api, call, call.out, {c.recvbuf, c.recvcounts[at.rank], c.datatype}, at.rank, 1) ||
      !set_blocks(call, c.recvcounts, call.out.facts.size) || call.out.facts.size == 0)
    return;
  const long long elements = call.total_bytes() / call.out.facts.size;
  if (!set(api, call, call.in, {mine, elements, c.datatype}, 0, at.size)) return;
  call.in.whole = true;
  call.valid = set_reduction(api, call, call.in, c.op);
}

void read_segments(const mpi::Api&, const Barrier&, const Position&, SegmentCall& call) {
  start(call, 0, 0);
  call.valid = true;
}

}  // namespace wherry::run
