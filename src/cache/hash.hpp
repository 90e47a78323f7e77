// The hash of everything that the cache looks up: a target and a 64-bit number (a displacement, a page).
#pragma once

#include <cstdint>

namespace wherry::cache {

/// Both halves of a 128-bit product in one: every bit of a factor reaches every bit of the result.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Spreads arithmetic sequences of any stride over all 64 bits (tests/cache/test_index.cpp). One product would
/// do for most strides; the second breaks up those whose multiples of the first constant stay close together.
inline std::uint64_t hash_of(std::uint32_t target, std::uint64_t number) {
  const std::uint64_t mixed =
      folded_product(number ^ 0xd6e8feb86659fd93ULL, 0xa0761d6478bd642fULL + 2 * std::uint64_t{target});
  return folded_product(mixed ^ 0xe7037ed1a0b428dbULL, 0x8ebc6af09c88c6e3ULL);
}

}  // namespace wherry::cache
