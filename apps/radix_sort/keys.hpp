// The keys that are sorted, and what must be true of them afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace radix_sort {

using Key = std::uint64_t;

/// uniform: any key as likely; few: sixteen different keys; ordered: sorted already, so that a pass moves whole blocks.
enum class Keys { uniform, few, ordered };

/// The keys `first`, `first` + 1, ... of an endless sequence: the same for any number of ranks.
std::vector<Key> draw(Keys kind, std::uint64_t first, std::size_t count);

/// What sorting must not change. The checksum does not depend on the order, and adds up over ranks (modulo 2^64).
struct Contents {
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;
  bool operator==(const Contents&) const = default;
};
Contents contents(std::span<const Key> keys);

}  // namespace radix_sort
