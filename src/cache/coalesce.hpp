// Adjacent fetches as one: what a window may do with the misses of an epoch that it has put off.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "cache/entry.hpp"

namespace wherry::cache {

/// A range to fetch, and the caller's number for it.
struct Wanted {
  TargetRange range;
  std::size_t number;
};

/// Some of the wanted ranges, which together are one range without holes.
struct CoalescedRange {
  TargetRange range;
  std::size_t first, count;  // of the wanted ranges, as they are ordered afterwards
};

/// Orders what is wanted by target and displacement, and joins what is adjacent or overlaps.
///
/// One fetch of everything costs less than one for each: the latency of a message is worth thousands of bytes.
/// Nothing is fetched that was not asked for: bytes between two ranges may be another's to write.
inline std::vector<CoalescedRange> coalesce(std::vector<Wanted>& wanted) {
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return std::tie(a.range.target, a.range.displacement, a.number) <
           std::tie(b.range.target, b.range.displacement, b.number);
  });
  std::vector<CoalescedRange> joined;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const TargetRange& next = wanted[i].range;
    if (joined.empty() || joined.back().range.target != next.target ||
        joined.back().range.end() < next.displacement) {
      joined.push_back({next, i, 1});
      continue;
    }
    CoalescedRange& last = joined.back();
    last.range.bytes = std::max(last.range.end(), next.end()) - last.range.displacement;
    ++last.count;
  }
  return joined;
}

}  // namespace wherry::cache
