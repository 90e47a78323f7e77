#include "cache/node_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.hpp"
#include "cache/entry.hpp"

namespace wherry::cache {
namespace {

// Sequence locks without fences: whoever reads a word of data by acquire reads the sequence after it, and whoever
// writes one by release has written the sequence before it.
constexpr auto reading = std::memory_order_acquire;
constexpr auto writing = std::memory_order_release;

}  // namespace

NodeCache::NodeCache(std::span<std::byte> memory) {
  const std::size_t sets = memory.size() / (ways * slot_bytes);
  require(sets > 0, "the memory of a node's cache holds no set of slots; give at least 2048 bytes");
  slots_ = {reinterpret_cast<Slot*>(memory.data()), std::bit_floor(sets) * ways};
}

/// Of a slot that may be written meanwhile: then the answer means nothing.
bool NodeCache::holds(const Slot& slot, const TargetRange& range, std::uint64_t generation) {
  const std::uint64_t owner = slot.owner.load(reading);
  return owner >> 32 == range.target && (owner & 0xffffffff) >= range.bytes &&
         slot.displacement.load(reading) == range.displacement && slot.generation.load(reading) == generation;
}

bool NodeCache::find(const TargetRange& range, std::uint64_t generation, std::byte* destination) const {
  if (range.bytes > most_payload) return false;
  for (const Slot& slot : set_of(hash_of(range.target, range.displacement))) {
    const std::uint64_t before = slot.sequence.load(std::memory_order_acquire);
    if (before == 0 || before % 2 != 0 || !holds(slot, range, generation)) continue;
    for (std::size_t at = 0; at < range.bytes; at += 8) {
      const std::uint64_t word = slot.words[at / 8].load(reading);
      std::memcpy(destination + at, &word, std::min<std::size_t>(8, range.bytes - at));
    }
    if (slot.sequence.load(std::memory_order_relaxed) == before) return true;
  }
  return false;
}

/// The range's own; else one of another generation, or empty; else any.
NodeCache::Slot& NodeCache::place_in(std::span<Slot> set, const TargetRange& range, std::uint64_t generation,
                                     std::uint64_t hash) {
  const auto is_own = [&](const Slot& slot) {
    return holds(slot, {range.target, range.displacement, 0}, generation);
  };
  if (const auto own = std::ranges::find_if(set, is_own); own != set.end()) return *own;
  const auto is_old = [&](const Slot& slot) {
    return slot.generation.load(reading) != generation || slot.sequence.load(reading) == 0;
  };
  if (const auto old = std::ranges::find_if(set, is_old); old != set.end()) return *old;
  return set[hash >> 62];
}

bool NodeCache::keep(const TargetRange& range, std::uint64_t generation, const std::byte* bytes) {
  if (range.bytes == 0 || range.bytes > most_payload) return false;
  const std::uint64_t hash = hash_of(range.target, range.displacement);
  Slot& slot = place_in(set_of(hash), range, generation, hash);
  std::uint64_t before = slot.sequence.load(std::memory_order_relaxed);
  // Somebody else writes it: there will be others to keep.
  if (before % 2 != 0 ||
      !slot.sequence.compare_exchange_strong(before, before + 1, std::memory_order_acquire))
    return false;
  slot.owner.store(owner_of(range), writing);
  slot.displacement.store(range.displacement, writing);
  slot.generation.store(generation, writing);
  for (std::size_t at = 0; at < range.bytes; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min<std::size_t>(8, range.bytes - at));
    slot.words[at / 8].store(word, writing);
  }
  slot.sequence.store(before + 2, std::memory_order_release);
  return true;
}

}  // namespace wherry::cache
