// What a window has done, for whoever asks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cache/statistics.hpp"

namespace wherry::window {

/// What the ranks of a node have read for each other, as this one sees it. Of ranges of bytes.
struct NodeStatistics {
  std::uint64_t found = 0;  // missed here, and found in the node's cache
  std::uint64_t found_bytes = 0;
  std::uint64_t offered = 0;  // fetched here, and offered to the others
  std::uint64_t refused =
      0;  // of these: not taken, for they are too large, or another rank was writing there
};

/// Why something was not cached. The record has them by number.
enum class NotCached : std::uint32_t {
  // Gets that were native.
  own_memory,    // of this rank itself
  arguments,     // empty, or not as MPI wants them: the library has the word on these
  unknown_type,  // whose layout is not known
  too_long,      // for one transfer
  by_request,    // MPI_Rget of what is not there, or in transparent mode
  atomic,        // atomic reads in transparent mode: others may change what is read at any time
  no_memory,     // for a cache
  cheaper,       // than with the cache
  too_few,       // so far, for a cache to be made
  // Ranges that were fetched and not kept.
  exceeds,     // a quarter of the memory that the cache may take
  worth_less,  // than what is kept
  aliased,     // the program has read or written something else to the same place meanwhile
};
inline constexpr std::size_t not_cached_reasons = 12;
static_assert(static_cast<std::size_t>(NotCached::aliased) + 1 == not_cached_reasons);

struct Amount {
  std::uint64_t count = 0, bytes = 0;
  void add(std::uint64_t more) { ++count, bytes += more; }
};

/// Numbers that only grow but for the last four.
struct WindowStatistics {
  cache::Statistics cache;
  NodeStatistics node;
  std::uint64_t passed =
      0;  // gets that cannot be cached: own rank, no rank, types that are not mapped, requests
  std::uint64_t bypassed = 0;                         // gets that were cheaper without the cache
  std::array<Amount, not_cached_reasons> not_cached;  // by reason; see left_out()
  std::uint64_t fetched = 0;                          // gets of which something was missing
  std::uint64_t flushes_saved = 0;
  double seconds_saved =
      0;  // estimated from plain gets that were timed: less if later ones take less; see CostBenefit
  std::size_t entries = 0, bytes = 0, ceiling_bytes = 0;

  Amount& left_out(NotCached why) { return not_cached[static_cast<std::size_t>(why)]; }
};

/// Fills in what all statistics of a window have, by these names; misses and gets that were not cached have others.
template <class Numbers>
void tell(const WindowStatistics& s, Numbers& numbers) {
  numbers.full_hits = s.cache.full_hits;
  numbers.pending_hits = s.cache.pending_hits;
  numbers.partial_hits = s.cache.partial_hits;
  numbers.evictions = s.cache.evictions + s.cache.conflicts;
  numbers.adjustments = s.cache.adjustments;
  numbers.invalidations = s.cache.invalidations;
  numbers.bytes_saved = s.cache.bytes_saved;
  numbers.bytes_fetched = s.cache.bytes_fetched;
  numbers.flushes_saved = s.flushes_saved;
  numbers.bytes = s.bytes;
  numbers.node_found = s.node.found;
  numbers.node_offered = s.node.offered;
  numbers.node_refused = s.node.refused;
}

}  // namespace wherry::window
