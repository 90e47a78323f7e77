// What a cache has done, in numbers that only grow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "cache/history.hpp"

namespace wherry::cache {

/// Every lookup is counted once, as one of the hits or one of the misses.
struct Statistics {
  std::uint64_t full_hits = 0;            // all bytes were there
  std::uint64_t pending_hits = 0;         // all bytes were there or being fetched already
  std::uint64_t partial_hits = 0;         // some bytes had to be fetched
  std::array<std::uint64_t, 4> misses{};  // by Cause

  std::uint64_t bytes_saved = 0;    // asked for and not fetched
  std::uint64_t bytes_fetched = 0;  // of all fetches
  std::uint64_t bytes_ahead = 0;    // of these: the rest of blocks, which nobody had asked for
  std::uint64_t fetches = 0;

  std::uint64_t evictions = 0;  // for lack of memory
  std::uint64_t conflicts = 0;  // evictions for lack of room in the index
  std::uint64_t examined = 0;   // buckets that were looked at to find something to evict
  std::uint64_t refused = 0;    // fetched ranges that were not admitted: worth less than what is there
  std::uint64_t too_large = 0;  // fetched ranges that can never be cached
  std::uint64_t refused_bytes = 0, too_large_bytes = 0;  // of these
  std::uint64_t invalidations = 0;
  std::uint64_t updated = 0, dropped = 0;  // entries, by writes
  std::uint64_t adjustments = 0;           // changes of size of storage or index

  std::uint64_t missed() const { return std::accumulate(misses.begin(), misses.end(), std::uint64_t{0}); }
  std::uint64_t missed(Cause cause) const { return misses[static_cast<std::size_t>(cause)]; }
  std::uint64_t hits() const { return full_hits + pending_hits + partial_hits; }
  std::uint64_t lookups() const { return hits() + missed(); }
};

/// A change of the size of the storage.
struct Adjustment {
  std::uint64_t lookups;      // before it
  std::size_t storage_bytes;  // from then on
};

}  // namespace wherry::cache
