// From a hash to a reference: where a lookup begins.
//
// Bucketed cuckoo hashing: a reference lives in one of two buckets of eight, each a cache line with a 16-bit
// tag per slot, so that a lookup that finds something touches one or two lines and a lookup that does not
// seldom looks further. The number of buckets is any number: linear hashing (Litwin, VLDB 1980) adds and
// removes one bucket at a time, so that growing never stops the program nor drops what is there.
//
// The index knows no keys. Whoever owns what the references mean says which one is the same and what its hash
// is. What lies in an index that is nearly empty is found by marks: the room that is left in a bucket says which
// buckets of a group hold anything, and which groups of groups. R. Pagh and F. F. Rodler, Cuckoo hashing, ESA 2001; B.
// Fan and others, MemC3, NSDI 2013 (tags).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "cache/memory.hpp"

namespace wherry::cache {

/// What the index refers to, a number that its owner understands. 0: nothing.
using Ref = std::uint32_t;

class Index {
 public:
  static constexpr std::size_t slots_per_bucket = 8;

  /// Room for `buckets` (at least 2) buckets now and `most` at most.
  Index(std::size_t buckets, std::size_t most);

  std::size_t size() const { return size_; }
  std::size_t buckets() const { return count_; }
  std::size_t slots() const { return count_ * slots_per_bucket; }
  std::size_t most_buckets() const { return most_; }
  std::size_t bytes() const { return memory_.committed(); }

  /// The reference with this hash for which `same(ref)` holds, or 0. `same` is called for 0 too, rarely: it must
  /// say no.
  template <class Same>
  Ref find(std::uint64_t hash, Same&& same) const {
    const Ref found = find_in(bucket(hash), hash, same);
    return found != 0 ? found : find_in(bucket(other(hash)), hash, same);
  }

  /// Asks for the lines of a lookup that will come soon.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&bucket(hash)); }

  /// Adds a reference that is not there. Returns false, and changes nothing, if there is no room for it in its
  /// two buckets, nor by moving one of those to its other bucket. `hash_of(ref)` is the hash of a reference.
  template <class HashOf>
  bool insert(std::uint64_t hash, Ref ref, HashOf&& hash_of) {
    if (put(position(hash), hash, ref) || put(position(other(hash)), hash, ref)) return ++size_, true;
    if (!make_room(position(hash), hash_of) && !make_room(position(other(hash)), hash_of)) return false;
    return insert(hash, ref, hash_of);
  }

  /// Removes a reference if it is there.
  void erase(std::uint64_t hash, Ref ref);
  /// Puts another reference in the place of one that is there, under the same hash.
  void replace(std::uint64_t hash, Ref old, Ref ref);
  /// Forgets all, in constant time.
  void clear();

  /// One bucket more, whose references come from one other bucket. No effect at most_buckets().
  template <class HashOf>
  void grow(HashOf&& hash_of) {
    if (count_ == most_) return;
    const std::size_t parent = parent_of(count_);
    commit(++count_);
    for (std::size_t i = 0; i < slots_per_bucket; ++i) {
      const Ref ref = at(parent).refs[i];
      if (ref == 0) continue;
      const std::uint64_t hash = hash_of(ref);
      if (position(hash) == parent || position(other(hash)) == parent) continue;
      vacate(parent, i);
      put(count_ - 1, hash, ref);
    }
  }

  /// One bucket less, unless only two are left. Calls `drop(ref)` for each reference that found no room
  /// elsewhere.
  template <class HashOf, class Drop>
  void shrink(HashOf&& hash_of, Drop&& drop) {
    if (count_ == 2) return;
    const Bucket last = at(count_ - 1);
    if (!is_empty(last)) unmark(count_ - 1);
    at(count_ - 1) = Bucket{};
    commit(--count_);
    for (const Ref ref : last.refs) {
      if (ref == 0) continue;
      --size_;
      if (!insert(hash_of(ref), ref, hash_of)) drop(ref);
    }
  }

  /// The slots of bucket i (0: empty slot), for those who look for victims.
  std::span<const Ref, slots_per_bucket> refs(std::size_t i) const;
  struct Next {
    std::size_t bucket;  // buckets(): there is none
    unsigned looked;     // at so many buckets to find it
  };
  /// The first bucket from `from` on that holds anything, in constant time for up to 32768 buckets.
  Next next_filled(std::size_t from) const;
  /// The slots of the two buckets where this hash may live.
  std::array<std::span<const Ref, slots_per_bucket>, 2> places(std::uint64_t hash) const {
    return {refs(position(hash)), refs(position(other(hash)))};
  }

 private:
  struct alignas(64) Bucket {
    std::uint16_t tags[slots_per_bucket];
    Ref refs[slots_per_bucket];
    std::uint32_t generation;  // not the index's: the bucket is empty whatever stands in it
    /// Of the groups that begin with this bucket: of 32 buckets, which hold anything; of 32 such groups; of 32 of
    /// those.
    std::uint32_t marks[3];
  };
  static_assert(sizeof(Bucket) == 64);
  static constexpr unsigned levels = 3, group_bits = 5, group_size = 1 << group_bits;

  static std::uint16_t tag_of(std::uint64_t hash) { return static_cast<std::uint16_t>(hash >> 48); }
  static std::uint64_t other(std::uint64_t hash) { return std::rotl(hash, 29) * 0x9e3779b97f4a7c15ULL; }
  std::size_t parent_of(std::size_t added) const { return added - std::bit_floor(added); }

  /// Linear hashing: as many low bits as the number of buckets needs, one less for buckets that are not there
  /// yet.
  std::size_t position(std::uint64_t hash) const {
    const std::uint64_t at = hash & mask_;
    return at < count_ ? at : at & (mask_ >> 1);
  }

  const Bucket& bucket(std::uint64_t hash) const { return table()[position(hash)]; }
  Bucket* table() const { return reinterpret_cast<Bucket*>(memory_.data()); }
  Bucket& at(std::size_t i);
  void commit(std::size_t buckets);
  bool put(std::size_t position, std::uint64_t hash, Ref ref);
  void vacate(std::size_t position, std::size_t slot);

  bool is_empty(const Bucket& bucket) const;
  /// Of a group of buckets (level 0) or groups, by number.
  static std::size_t first_of(std::size_t group, unsigned level) { return group << group_bits * (level + 1); }
  std::uint32_t marks(std::size_t group, unsigned level) const;
  void mark(std::size_t position);
  void unmark(std::size_t position);

  /// A bit in the highest place of each of the four 16-bit lanes that equal `tag`, and nothing else.
  static std::uint64_t lanes_with(std::uint64_t lanes, std::uint64_t tag) {
    constexpr std::uint64_t low = 0x7fff7fff7fff7fffULL;
    const std::uint64_t difference = lanes ^ (tag * 0x0001000100010001ULL);
    return ~(((difference & low) + low) | difference | low);
  }

  template <class Same>
  Ref find_in(const Bucket& bucket, std::uint64_t hash, Same& same) const {
    if (bucket.generation != generation_) return 0;
    std::uint64_t lanes[2];
    std::memcpy(lanes, bucket.tags, sizeof lanes);
    for (unsigned half = 0; half < 2; ++half)
      for (std::uint64_t hits = lanes_with(lanes[half], tag_of(hash)); hits != 0; hits &= hits - 1) {
        const Ref ref = bucket.refs[4 * half + static_cast<unsigned>(std::countr_zero(hits)) / 16];
        if (same(ref)) return ref;
      }
    return 0;
  }

  /// Moves one reference of a full bucket to its other one, if one of them has room there.
  template <class HashOf>
  bool make_room(std::size_t full, HashOf& hash_of) {
    for (Ref& ref : at(full).refs) {
      const std::uint64_t hash = hash_of(ref);
      const std::size_t home = position(hash), away = home == full ? position(other(hash)) : home;
      if (away != full && put(away, hash, ref)) return ref = 0, true;
    }
    return false;
  }

  Memory memory_;
  std::size_t most_;
  std::size_t count_ = 0;
  std::uint64_t mask_ = 0;
  std::size_t size_ = 0;
  std::uint32_t generation_ = 1;
};

}  // namespace wherry::cache
