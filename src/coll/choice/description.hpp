// Of a call that has been read: which calls it is like, and whether Wherry may perform it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/settings.hpp"
#include "coll/state/cell_key.hpp"
#include "coll/state/communicator.hpp"

namespace wherry::run {

inline constexpr std::string_view native_name = "native";

struct Described {
  CellKey key;
  int root = 0;
  std::uint64_t bytes = 0;  // that this rank gives
};

Described describe(const SegmentCall& call, Collective collective);

/// Of an all-to-all. bucket: the agreed size class.
inline CellKey key_of(const Blocks& blocks, Collective collective, std::uint32_t bucket) {
  return {collective, blocks.in_place ? Limit::in_place : Limit::none, bucket};
}

/// The size class of an all-to-all of equal blocks.
std::uint32_t bucket_of(const Blocks& blocks);

/// The most staging that a call may need by any strategy, where its blocks differ: its size class does not tell. 0
/// elsewhere.
long long most_staging(const SegmentCall& call, int ranks);

/// Why the library must perform the call, alike on all ranks; empty if it need not. staging_max: bytes that it may
/// take.
std::string_view reason_to_stay(const Settings& settings, const Communicator& c, const SegmentCall& call,
                                std::size_t staging_max);

}  // namespace wherry::run
