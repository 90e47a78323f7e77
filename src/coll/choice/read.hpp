// Reads a call, of whatever collective.
#pragma once

#include <concepts>

#include "arguments/blocks.hpp"
#include "arguments/segment_call.hpp"
#include "comm/communicator.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// An all-to-all, or a collective on segments.
template <class Call>
concept Exchange =
    requires(const mpi::Api& api, const Call& call, Blocks& blocks) { read_blocks(api, call, 0, blocks); };

/// False: arguments that only the library should validate.
template <Exchange Call>
bool read(const mpi::Api& api, const Call& call, const Position& at, Blocks& blocks, SegmentCall&) {
  read_blocks(api, call, at.size, blocks);
  return blocks.valid;
}

template <class Call>
bool read(const mpi::Api& api, const Call& call, const Position& at, Blocks&, SegmentCall& segments) {
  read_segments(api, call, at, segments);
  return segments.valid;
}

/// Whether Wherry may perform the call, which is in blocks or segments then. There must be something to do.
template <class Call>
bool read_work(const mpi::Api& api, const Call& call, const Communicator& c, Blocks& blocks,
               SegmentCall& segments) {
  if (!read(api, call, {c.rank(), c.size()}, blocks, segments)) return false;
  if constexpr (std::same_as<Call, Alltoall>) return blocks.block_bytes() > 0;
  if constexpr (!Exchange<Call> && !std::same_as<Call, Barrier>) return segments.block_bytes > 0;
  return true;
}

/// Whether this rank's arguments are legal as far as Wherry reads them. The communicator must be valid.
template <class Call>
bool is_valid(const mpi::Api& api, const Call& call) {
  Position at{};
  api.Comm_rank(call.comm, &at.rank);
  api.Comm_size(call.comm, &at.size);
  Blocks blocks;
  SegmentCall segments;
  return read(api, call, at, blocks, segments);
}

}  // namespace wherry::run
