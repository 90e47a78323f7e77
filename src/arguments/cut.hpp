// Where the segments of a buffer lie.
#pragma once

#include <cstddef>
#include <vector>

#include "schedule/segment_schedule.hpp"

namespace wherry::run {

/// A buffer of `units` units of `unit_bytes` bytes, cut into segments as evenly as whole units allow. Some may be empty.
/// Or, with `begins`, cut where these say: one for each segment, and the end.
struct Cut {
  long long units = 0;
  long long unit_bytes = 1;
  int segments = 1;
  const std::vector<long long>* begins = nullptr;
  long long widest = 0;  // with begins: bytes of the largest segment

  /// Bytes from the start of the buffer.
  long long begin(int segment) const {
    if (begins != nullptr) return (*begins)[static_cast<std::size_t>(segment)];
    return segments == 0 ? 0 : units * segment / segments * unit_bytes;
  }
  long long bytes(const schedule::Range& range) const { return begin(range.end()) - begin(range.first); }
  long long total() const { return units * unit_bytes; }
  /// No segment has more bytes.
  long long largest() const {
    if (begins != nullptr) return widest;
    return segments == 0 ? 0 : (units + segments - 1) / segments * unit_bytes;
  }
};

}  // namespace wherry::run
