// A small hash map for the hot path: open addressing, linear probing, one allocation.
//
// Lookups in it are most of what recording a call costs; std::unordered_map's node per entry would double that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wherry::profile {

/// Spreads the bits of a key (the finalizer of a multiplicative hash; any odd constant with mixed bits will do).
constexpr std::uint64_t mix(std::uint64_t x) {
  x *= 0x9e3779b97f4a7c15ULL;
  return x ^ (x >> 29);
}

constexpr std::uint64_t hash_of(std::uint64_t key) { return mix(key); }

/// Map from Key (equality comparable, with `hash_of(key)`) to Value. Pointers to values are valid until the next insert
/// or erase.
template <class Key, class Value>
class FlatMap {
 public:
  FlatMap() : slots_(16) {}

  Value* find(const Key& key) {
    for (std::size_t i = home(key);; i = next(i)) {
      if (!slots_[i].taken) return nullptr;
      if (slots_[i].key == key) return &slots_[i].value;
    }
  }

  /// The value at key, made from `value` if there was none.
  Value& insert(const Key& key, Value value) {
    if (Value* old = find(key)) return *old;
    if (2 * ++size_ > slots_.size()) grow();
    return place(key, std::move(value));
  }

  /// Removes key if it is there, and closes the gap so that later probes do not stop at it.
  void erase(const Key& key) {
    std::size_t hole = home(key);
    while (slots_[hole].taken && !(slots_[hole].key == key)) hole = next(hole);
    if (!slots_[hole].taken) return;
    --size_;
    for (std::size_t i = next(hole); slots_[i].taken; i = next(i)) {
      if (!reaches(home(slots_[i].key), hole, i)) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = Slot{};
  }

  std::size_t size() const { return size_; }
  void clear() { *this = FlatMap(); }

  /// Calls visit(key, value) for every entry, in no particular order.
  template <class Visit>
  void each(Visit visit) {
    for (Slot& slot : slots_)
      if (slot.taken) visit(slot.key, slot.value);
  }

 private:
  struct Slot {
    Key key{};
    bool taken = false;
    Value value{};
  };

  std::size_t home(const Key& key) const { return hash_of(key) & (slots_.size() - 1); }
  std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

  /// Whether a probe that starts at `from` meets `hole` before `at` (positions on a ring).
  bool reaches(std::size_t from, std::size_t hole, std::size_t at) const {
    const std::size_t mask = slots_.size() - 1;
    return ((at - from) & mask) >= ((at - hole) & mask);
  }

  Value& place(const Key& key, Value value) {
    std::size_t i = home(key);
    while (slots_[i].taken) i = next(i);
    slots_[i] = Slot{key, true, std::move(value)};
    return slots_[i].value;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old)
      if (slot.taken) place(slot.key, std::move(slot.value));
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half full
  std::size_t size_ = 0;
};

}  // namespace wherry::profile
