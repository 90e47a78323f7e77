// Where the bytes of gets under way go, and what else is written there meanwhile.
//
// MPI forbids touching the memory that a get reads to before it is complete (MPI 4.1, 12.3). Programs do it all the
// same: they read several places to one buffer, to warm up or to measure, and complete once. What was read to such a
// place must not be remembered as what is there in the end. Two gets of the same bytes to the same place do no harm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/entry.hpp"

namespace wherry::window {

/// Bytes of a range, written to memory of this process.
struct Written {
  cache::TargetRange range;
  const std::byte* to;
  std::uint64_t sequence;   // of the operation that brings them; of a hit: the last one issued before it
  bool* aliased = nullptr;  // nullptr: nobody wants to know; else set if others wrote there, too

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(to); }
  std::uintptr_t end() const { return begin() + range.bytes; }
  /// Whether what both have in common is the same bytes.
  bool agrees(const Written& other) const {
    return range.target == other.range.target &&
           range.displacement - begin() == other.range.displacement - other.begin();
  }
};

/// Aliased is what is under way and overlaps, unless all in such a chain agree, and what others have been copied over
/// since it was issued. Whether anybody was told so.
bool note_aliased(std::vector<Written>& under_way, const std::vector<Written>& hits);

/// An interval of addresses.
struct Addresses {
  std::uintptr_t begin = UINTPTR_MAX, end = 0;

  bool is_empty() const { return end <= begin; }
  bool touches(const void* at, std::uint64_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return address < end && address + bytes > begin;
  }
  void include(const void* at, std::uint64_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    begin = std::min(begin, address);
    end = std::max(end, address + bytes);
  }
};

class Destinations {
 public:
  /// Whether this may be where bytes are under way to.
  bool may_touch(const void* to, std::uint64_t bytes) const { return expected_.touches(to, bytes); }

  /// A get is under way to there.
  void expect(const std::byte* to, std::uint64_t bytes) {
    place(to, bytes);
    ++gets_;
  }
  /// One of these is over.
  void arrived() {
    if (--gets_ == 0) clear();
  }
  /// Bytes will be copied when gets of their target have come that are under way, up to this sequence number.
  void expect_copy(const Written& copy) {
    place(copy.to, copy.range.bytes);
    copies_.push_back(copy);
  }
  /// Bytes have been copied.
  void hit(const Written& hit) {
    if (!may_touch(hit.to, hit.range.bytes)) return;
    uncertain_.include(hit.to, hit.range.bytes);
    hits_.push_back(hit);
  }

  /// Whether something may have been written over something else since the last check().
  bool uncertain() const { return !uncertain_.is_empty(); }
  /// Whether anybody waits for copies.
  bool has_copies() const { return !copies_.empty(); }
  /// Whether it is time for check() because of what is noted for it.
  bool is_full() const { return hits_.size() + copies_.size() >= most_noted_; }
  /// Whether anything under way may be aliased.
  bool any_aliased() const { return aliased_; }

  /// Tells those whose memory others write, too. each_get(use) calls use(Written) for all gets under way; is_made(copy)
  /// says which copies are under way no longer.
  template <class EachGet, class IsMade>
  void check(EachGet&& each_get, IsMade&& is_made) {
    std::erase_if(copies_, is_made);
    expected_ = {};
    std::vector<Written> under_way;
    std::size_t all = 0;
    const auto use = [&](const Written& written) {
      ++all;
      expected_.include(written.to, written.range.bytes);
      // What nothing new touches has been compared before.
      if (uncertain_.touches(written.to, written.range.bytes)) under_way.push_back(written);
    };
    for (const Written& copy : copies_) use(copy);
    each_get(use);
    aliased_ |= note_aliased(under_way, hits_);
    hits_.clear();
    uncertain_ = {};
    most_noted_ = std::max(least_noted, 2 * all);
  }

 private:
  static constexpr std::size_t least_noted = 1024;

  void place(const std::byte* to, std::uint64_t bytes) {
    if (may_touch(to, bytes)) uncertain_.include(to, bytes);
    expected_.include(to, bytes);
  }
  void clear() {
    expected_ = uncertain_ = {};
    aliased_ = false;
    copies_.clear();
    hits_.clear();
    most_noted_ = least_noted;
  }

  Addresses expected_;    // around all that bytes are under way to
  Addresses uncertain_;   // around what touched that since the last check()
  std::size_t gets_ = 0;  // under way
  bool aliased_ = false;
  std::vector<Written> copies_;  // that may have to be made still
  std::vector<Written> hits_;    // since the last check()
  std::size_t most_noted_ = least_noted;
};

}  // namespace wherry::window
