// A cache in memory that the processes of a node share: what one has fetched, the others need not.
//
// Slots of one size, four to a set, each guarded by a sequence number (a sequence lock: H. Boehm, "Can seqlocks get
// along with programming language memory models?", MSPC 2012). Who reads writes nothing and waits for nobody; who finds
// a slot being written looks elsewhere. A process that ends while it writes costs the others that slot.
//
// A range belongs to a generation, the number of invalidations that the process which fetched it has seen. Others find
// it only in the same one: nobody is given what was fetched before its own last invalidation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cache/entry.hpp"

namespace wherry::cache {

class NodeCache {
 public:
  static constexpr std::size_t slot_bytes = 512;
  static constexpr std::size_t most_payload = slot_bytes - 32;  // of a range; larger ones are not kept

  /// memory: zero at first, aligned to 64 bytes, seen by all processes, though at addresses of their own; its size
  /// rounded down to a power of two of sets. Throws usage_error if that is none.
  explicit NodeCache(std::span<std::byte> memory);

  std::size_t slots() const { return slots_.size(); }

  /// Whether the range was there; then the destination has its bytes. Else it may have anything.
  bool find(const TargetRange& range, std::uint64_t generation, std::byte* destination) const;
  /// Offers a range to the others. Returns whether it is there now.
  bool keep(const TargetRange& range, std::uint64_t generation, const std::byte* bytes);

 private:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free && sizeof(Word) == 8);
  static constexpr std::size_t ways = 4;
  struct alignas(64) Slot {
    Word sequence;  // odd: it is being written; 0: it is empty
    Word owner;     // target and bytes
    Word displacement;
    Word generation;
    std::array<Word, most_payload / 8> words;
  };
  static_assert(sizeof(Slot) == slot_bytes);

  static std::uint64_t owner_of(const TargetRange& range) {
    return std::uint64_t{range.target} << 32 | range.bytes;
  }
  std::span<Slot> set_of(std::uint64_t hash) const {
    return slots_.subspan((hash & (slots_.size() / ways - 1)) * ways, ways);
  }
  static bool holds(const Slot& slot, const TargetRange& range, std::uint64_t generation);
  static Slot& place_in(std::span<Slot> set, const TargetRange& range, std::uint64_t generation,
                        std::uint64_t hash);

  std::span<Slot> slots_;
};

}  // namespace wherry::cache
