#include "run/segments/call.hpp"

#include <climits>

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
  call.in = {};
  call.out = {};
  call.reduces = Operator::unknown;
}

bool is_rank(int root, const Position& at) { return 0 <= root && root < at.size; }

/// The part of `all` that is one block of it.
Side part(const Side& all, int block) {
  Side one = all;
  one.address = all.block(block).address;
  one.first = block;
  one.blocks = 1;
  return one;
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

Region Side::block(int i) const {
  // Through integers: the address may be MPI_BOTTOM.
  const auto at = reinterpret_cast<MPI_Aint>(address) + static_cast<MPI_Aint>(i) * count * facts.extent;
  return {reinterpret_cast<const void*>(at), count, type};
}

void read_segments(const mpi::Api& api, const Allgather& c, const Position& at, SegmentCall& call) {
  start(call, 0, at.size);
  if (!set(api, call, call.out, {c.recvbuf, c.recvcount, c.recvtype}, 0, at.size)) return;
  if (c.sendbuf == MPI_IN_PLACE) {
    call.in = part(call.out, at.rank);
  } else if (!set(api, call, call.in, {c.sendbuf, c.sendcount, c.sendtype}, at.rank, 1)) {
    return;
  }
  call.block_bytes = call.in.block_bytes();
  call.valid = true;
}

void read_segments(const mpi::Api& api, const Bcast& c, const Position& at, SegmentCall& call) {
  start(call, c.root, 1);
  Side& mine = at.rank == c.root ? call.in : call.out;
  if (!is_rank(c.root, at) || !set(api, call, mine, {c.buffer, c.count, c.datatype}, 0, 1)) return;
  call.block_bytes = mine.block_bytes();
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
  call.block_bytes = call.in.block_bytes();
  call.valid = true;
}

void read_segments(const mpi::Api& api, const Scatter& c, const Position& at, SegmentCall& call) {
  start(call, c.root, at.size);
  if (!is_rank(c.root, at)) return;
  const bool is_root = at.rank == c.root;
  if (is_root && !set(api, call, call.in, {c.sendbuf, c.sendcount, c.sendtype}, 0, at.size)) return;
  const bool keeps = is_root && c.recvbuf == MPI_IN_PLACE;
  if (!keeps && !set(api, call, call.out, {c.recvbuf, c.recvcount, c.recvtype}, at.rank, 1)) return;
  call.block_bytes = (is_root ? call.in : call.out).block_bytes();
  call.valid = true;
}

void read_segments(const mpi::Api& api, const Reduce& c, const Position& at, SegmentCall& call) {
  start(call, c.root, 1);
  if (!is_rank(c.root, at)) return;
  const bool is_root = at.rank == c.root;
  const void* const mine = is_root && c.sendbuf == MPI_IN_PLACE ? c.recvbuf : c.sendbuf;
  if (mine == MPI_IN_PLACE || !set(api, call, call.in, {mine, c.count, c.datatype}, 0, 1)) return;
  if (is_root && !set(api, call, call.out, {c.recvbuf, c.count, c.datatype}, 0, 1)) return;
  call.block_bytes = call.in.block_bytes();
  call.valid = set_reduction(api, call, call.in, c.op);
}

void read_segments(const mpi::Api& api, const Allreduce& c, const Position&, SegmentCall& call) {
  start(call, 0, 1);
  const void* const mine = c.sendbuf == MPI_IN_PLACE ? c.recvbuf : c.sendbuf;
  if (!set(api, call, call.in, {mine, c.count, c.datatype}, 0, 1) ||
      !set(api, call, call.out, {c.recvbuf, c.count, c.datatype}, 0, 1))
    return;
  call.block_bytes = call.in.block_bytes();
  call.valid = set_reduction(api, call, call.in, c.op);
}

void read_segments(const mpi::Api& api, const ReduceScatterBlock& c, const Position& at, SegmentCall& call) {
  start(call, 0, at.size);
  const void* const mine = c.sendbuf == MPI_IN_PLACE ? c.recvbuf : c.sendbuf;
  if (!set(api, call, call.in, {mine, c.recvcount, c.datatype}, 0, at.size) ||
      !set(api, call, call.out, {c.recvbuf, c.recvcount, c.datatype}, at.rank, 1))
    return;
  call.block_bytes = call.out.block_bytes();
  call.valid = set_reduction(api, call, call.in, c.op);
}

void read_segments(const mpi::Api&, const Barrier&, const Position&, SegmentCall& call) {
  start(call, 0, 0);
  call.valid = true;
}

}  // namespace wherry::run
