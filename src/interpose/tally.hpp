// Collectives on the fast path whose time is not taken: counted without the profile's lock, and booked now and then.
//
// To take the lock and to find the rows of a record takes longer than such a call may cost.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profile/recorder.hpp"

namespace wherry::interpose {

/// What a collective sends by itself, for the matrix of peers.
struct Sent {
  static constexpr int nobody = -2, others = -1;
  int to = nobody;  // or a rank of the communicator, or all others alike
  std::uint64_t bytes = 0;
  friend bool operator==(const Sent&, const Sent&) = default;
};

/// Calls of one function on one communicator that come from one place and move the same.
struct CallKind {
  const void* site = nullptr;
  std::uint32_t function = profile::none;
  std::uint32_t place = profile::none;
  profile::MoreCalls each{};
  Sent sent;

  bool is(const void* from, std::uint32_t called, std::uint32_t use, std::uint64_t use_bytes) const {
    return site == from && function == called && each.use == use && each.use_bytes == use_bytes;
  }
};

/// Those of one communicator. Only who may call collectives on it counts and replaces; whoever holds the profile's lock
/// books.
class Tallies {
 public:
  struct Tally {
    CallKind kind;
    std::atomic<std::uint64_t> calls = 0;
    std::uint64_t booked = 0;  // of them; needs the lock

    void count() { calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  };

  /// That of such calls, or the one that they may have. In one of two places: places of a loop take turns.
  [[gnu::always_inline]] Tally& of(const void* site, std::uint32_t function) {
    const std::size_t home =
        profile::mix(reinterpret_cast<std::uintptr_t>(site) + function) >> 32 & (tallies_.size() - 1);
    Tally& first = tallies_[home];
    const bool is_others = first.kind.site != site || first.kind.function != function;
    return is_others && first.kind.site != nullptr ? tallies_[home ^ 1] : first;
  }
  /// Passes each kind that there are calls of to book(kind, calls).
  template <class Book>
  void drain(const Book& book) {
    for (Tally& tally : tallies_)
      if (const std::uint64_t calls = tally.calls.load(std::memory_order_relaxed) - tally.booked; calls > 0) {
        tally.booked += calls;
        book(tally.kind, calls);
      }
  }

 private:
  std::array<Tally, 16> tallies_;  // a power of two
};

}  // namespace wherry::interpose
