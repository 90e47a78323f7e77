// Adjacent fetches as one: what a window may do with the misses of an epoch that it has put off.
#pragma once

#include <cstddef>
#include <vector>

#include "cache/entry.hpp"

namespace wherry::cache {

/// A range to fetch, and the caller's number for it.
struct Wanted {
  Range range;
  std::size_t number;
};

/// Some of the wanted ranges, which together are one range without holes.
struct Joined {
  Range range;
  std::size_t first, count;  // of the wanted ranges, as they are ordered afterwards
};

/// Orders what is wanted by target and displacement, and joins what is adjacent or overlaps.
///
/// One fetch of everything costs less than one for each: the latency of a message is worth thousands of bytes.
/// Nothing is fetched that was not asked for: bytes between two ranges may be another's to write.
std::vector<Joined> coalesce(std::vector<Wanted>& wanted);

}  // namespace wherry::cache
