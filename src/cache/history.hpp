// What is remembered of ranges that are not cached: a ghost list.
//
// It tells the policy how often a range was wanted before, and the statistics why it is missing. Rows are four to a
// set; what is forgotten is what has been wanted least. A range that was forgotten is taken for one never seen.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/memory.hpp"

namespace wherry::cache {

/// Why a range is not cached.
enum class Cause : std::uint32_t {
  compulsory,   // it was never asked for, or is forgotten
  capacity,     // evicted for lack of memory, or not admitted
  conflict,     // evicted for lack of room in the index
  invalidated,  // by the end of an epoch, or by a write
};

class History {
 public:
  struct Row {
    std::uint32_t mark = 0;  // part of the hash; 0: empty
    float heat = 0;          // as in Entry
    std::uint32_t tick = 0;
    std::uint32_t state = 0;  // generation and cause: see note()
  };

  /// `bytes` for all rows now and `most` at most, both rounded down to a power of two of sets. Throws std::bad_alloc.
  History(std::size_t bytes, std::size_t most);

  std::size_t bytes() const { return memory_.committed(); }
  std::size_t most_bytes() const { return memory_.most(); }
  /// Makes room for more rows, at least half and at most all of `bytes`, as far as there may be so many; nothing is
  /// forgotten.
  void grow(std::size_t bytes);
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(set_of(hash)); }

  /// The row of a hash, or nullptr.
  const Row* find(std::uint64_t hash) const { return row_of(hash); }
  /// Remembers heat and tick, and the cause why it will be missing as long as the generation lasts.
  void note(std::uint64_t hash, float heat, std::uint32_t tick, std::uint32_t generation, Cause cause);
  /// Why the range of this row is missing now.
  static Cause cause_of(const Row* row, std::uint32_t generation);

 private:
  static constexpr std::size_t ways = 4;
  struct alignas(64) Set {
    Row rows[ways];
  };
  Set* set_of(std::uint64_t hash) const { return reinterpret_cast<Set*>(memory_.data()) + (hash & mask_); }
  Row* row_of(std::uint64_t hash) const;
  std::size_t sets() const { return mask_ + 1; }
  static std::uint32_t mark_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32) | 1; }

  Memory memory_;
  std::size_t mask_;
};

/// Bytes of a history that goes with so many bytes of storage.
constexpr std::size_t history_of(std::size_t storage_bytes) { return storage_bytes / 16; }

}  // namespace wherry::cache
