// One cached range, as it lies in the storage: its head in front of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/storage.hpp"

namespace wherry::cache {

/// Bytes of the window memory of a rank. Displacements are in bytes, whatever the window's unit is.
struct Range {
  std::uint32_t target = 0;
  std::uint64_t displacement = 0;
  std::uint64_t bytes = 0;

  std::uint64_t end() const { return displacement + bytes; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// The head and what the policy knows share the line that a hit reads anyway.
struct Entry {
  Storage::Block block;  // its first piece
  std::uint64_t displacement;
  std::uint32_t target;
  std::uint32_t bytes;
  float heat;            // uses, older ones counting less; as of `tick`
  std::uint32_t tick;    // when it was last used, in the policy's time
  float score;           // the application's word on how much it is worth
  std::uint32_t flight;  // 0: valid; else the first fetch under way for it

  static constexpr std::size_t head = 32;  // of the storage's payload, before the bytes

  std::uint64_t end() const { return displacement + bytes; }
  Range range() const { return {target, displacement, bytes}; }
  bool valid() const { return flight == 0; }
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Entry) == sizeof(Storage::Block) + Entry::head && Entry::head <= Storage::least_payload);

}  // namespace wherry::cache
