// Of a call that has been read: which calls it is like, and whether Wherry may perform it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arguments/blocks.hpp"
#include "arguments/segment_call.hpp"
#include "base/settings.hpp"
#include "coll/state/cell_key.hpp"
#include "comm/communicator.hpp"
#include "profile/record.hpp"
#include "tuning/candidates.hpp"

namespace wherry::run {

struct Described {
  CellKey key;
  int root = 0;
  std::uint64_t bytes = 0;  // that this rank gives
};

/// The size class of a call on segments.
inline std::uint32_t bucket_of(const SegmentCall& call) {
  if (call.block_bytes == 0) return 0;
  return profile::bucket_of(
      static_cast<std::uint64_t>(tuning::shared_bytes(call.block_bytes, call.blocks != 1)));
}

inline Described describe(const SegmentCall& call, Collective collective) {
  const Limit limit = call.reduces == Operator::user_ordered ? Limit::in_order : Limit::none;
  return {.key = {collective, limit, bucket_of(call)},
          .root = call.root,
          .bytes = static_cast<std::uint64_t>(call.in.blocks * call.block_bytes)};
}

/// Of an all-to-all. bucket: the agreed size class.
inline CellKey key_of(const Blocks& blocks, Collective collective, std::uint32_t bucket) {
  return {collective, blocks.in_place ? Limit::in_place : Limit::none, bucket};
}

/// The size class of an all-to-all of equal blocks.
inline std::uint32_t bucket_of(const Blocks& blocks) {
  return profile::bucket_of(static_cast<std::uint64_t>(blocks.block_bytes()));
}

/// The most staging that a call may need by any strategy, where its blocks differ: its size class does not tell. 0
/// elsewhere.
inline long long most_staging(const SegmentCall& call, int ranks) {
  // No strategy holds more than all blocks twice.
  return call.differ ? call.total_bytes() + ranks * call.widest : 0;
}

/// Why the library must perform the call, alike on all ranks; empty if it need not. staging_max: bytes that it may
/// take.
inline std::string_view reason_to_stay(const Settings& settings, const Communicator& c,
                                       const SegmentCall& call, std::size_t staging_max) {
  const bool reduces = call.reduces != Operator::unknown;
  if (reduces && settings.reproducible && depends_on_order(call.reduces))
    return "WHERRY_REPRODUCIBLE: the result depends on the order";
  return most_staging(call, c.size()) > static_cast<long long>(staging_max)
             ? "blocks differ so much that staging would not do"
             : "";
}

}  // namespace wherry::run
