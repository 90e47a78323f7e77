// How large storage and index should be: decided at the ends of epochs, from what the history saw.
//
// The history is a ghost list (N. Megiddo and D. Modha, ARC, FAST 2003): a miss of a range that it remembers as
// evicted would have been a hit with more memory. As long as such misses are more than a small share of the
// references, memory doubles, by at most a few MiB at a time. It shrinks when most of it has been neither used
// nor missed for a while. So the sizes follow what the program does now, from wherever they start, and a window
// that needs little takes little.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace wherry::cache {

/// What is known at the end of an epoch. The counts only grow.
struct CacheLoad {
  std::uint64_t references = 0;
  std::uint64_t capacity_misses = 0;  // of ranges that were evicted, refused or in conflict
  std::size_t storage_bytes = 0;
  std::size_t live_bytes = 0;  // of entries used within the last few half-lives
};

class Adaptation {
 public:
  /// Whether enough has happened since the last decision to decide again.
  bool due(std::uint64_t references) const { return references - last_.references >= least_references; }

  /// The number of bytes that the storage should have, before any ceiling. Only when due.
  std::size_t storage_bytes(const CacheLoad& load);

 private:
  static constexpr std::uint64_t least_references = 256;
  static constexpr std::size_t most_step = std::size_t{4} << 20;  // bytes: about a millisecond to touch them
  static constexpr unsigned patience = 8;  // decisions in a row that find it too large before it shrinks

  CacheLoad last_;
  unsigned idle_ = 0;
};

inline std::size_t Adaptation::storage_bytes(const CacheLoad& load) {
  const std::uint64_t references = load.references - last_.references;
  const std::uint64_t missed = load.capacity_misses - last_.capacity_misses;
  last_ = load;
  // Half a percent of the references: below that more memory cannot be seen in the time of a program.
  const bool too_small = missed * 200 > references;
  const bool too_large = !too_small && load.live_bytes < load.storage_bytes / 4;
  idle_ = too_large ? idle_ + 1 : 0;
  if (too_small) return load.storage_bytes + std::min(load.storage_bytes, most_step);
  if (idle_ < patience) return load.storage_bytes;
  idle_ = 0;
  return load.storage_bytes - std::min(load.storage_bytes / 2, most_step);
}

}  // namespace wherry::cache
