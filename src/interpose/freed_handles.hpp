// How often handles were freed: their values are used again, for other objects.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/numbers.hpp"

namespace wherry::interpose {

/// By the number of a handle. Those of equal hash share a counter, so that one may look freed when another was. Needs no
/// lock.
class FreedHandles {
 public:
  void note(std::uint64_t object) { counts_[slot_of(object)].fetch_add(1, std::memory_order_relaxed); }
  [[gnu::always_inline]] std::uint32_t count(std::uint64_t object) const {
    return counts_[slot_of(object)].load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t slots = 64;  // a power of two
  static std::size_t slot_of(std::uint64_t object) { return hashed(object) & (slots - 1); }

  std::array<std::atomic<std::uint32_t>, slots> counts_ = {};
};

}  // namespace wherry::interpose
