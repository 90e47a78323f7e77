// One cached range, as it lies in the storage: its head in front of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/storage.hpp"

namespace wherry::cache {

/// Bytes of the window memory of a rank. Displacements are in bytes, whatever the window's unit is.
struct TargetRange {
  std::uint32_t target = 0;
  std::uint64_t displacement = 0;
  std::uint64_t bytes = 0;

  std::uint64_t end() const { return displacement + bytes; }
  friend bool operator==(const TargetRange&, const TargetRange&) = default;
};

// ---- The hash of everything that the cache looks up: a target and a 64-bit number (a displacement, a page) ----

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

/// The head and what the policy knows share the line that a hit reads anyway.
struct Entry {
  Storage::BlockHeader block;  // its first piece
  std::uint64_t displacement;
  std::uint32_t target;
  std::uint32_t bytes;
  float heat;            // uses, older ones counting less; as of `tick`
  std::uint32_t tick;    // when it was last used, in the policy's time
  float score;           // the application's word on how much it is worth
  std::uint32_t flight;  // 0: valid; else the first fetch under way for it

  static constexpr std::size_t head = 32;  // of the storage's payload, before the bytes

  std::uint64_t end() const { return displacement + bytes; }
  TargetRange range() const { return {target, displacement, bytes}; }
  bool valid() const { return flight == 0; }
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Entry) == sizeof(Storage::BlockHeader) + Entry::head &&
              Entry::head <= Storage::least_payload);

}  // namespace wherry::cache
