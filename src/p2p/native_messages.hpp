// Messages that are decided to be native, found by a few cache lines: a program that has just computed finds all
// that is Wherry's in memory, not in the caches, and an exchange of small messages takes a few microseconds.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/numbers.hpp"
#include "p2p/copier_choices.hpp"

namespace wherry::p2p {

/// Its address is this thread's.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local char this_thread_mark = 0;

/// Types of which so many elements are native for good. A word has the type's number above and the least count
/// that is not native below. Thread-safe; may forget.
class NativeTypes {
 public:
  bool has(std::uint64_t type, std::int64_t count) const {
    const std::uint64_t found = word_of(type).load(std::memory_order_relaxed);
    return found >> count_bits == type && count < static_cast<std::int64_t>(found & most_count);
  }
  /// below: elements, fewer than which are native.
  void put(std::uint64_t type, std::int64_t below) {
    if (type >> (64 - count_bits) != 0) return;
    const auto least = std::min(static_cast<std::uint64_t>(below), most_count);
    word_of(type).store(type << count_bits | least, std::memory_order_relaxed);
  }
  void forget(std::uint64_t type) {
    if (word_of(type).load(std::memory_order_relaxed) >> count_bits == type)
      word_of(type).store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr int count_bits = 16;
  static constexpr std::uint64_t most_count = (std::uint64_t{1} << count_bits) - 1;

  std::atomic<std::uint64_t>& word_of(std::uint64_t type) { return words_[place_of(type)]; }
  const std::atomic<std::uint64_t>& word_of(std::uint64_t type) const { return words_[place_of(type)]; }
  static std::size_t place_of(std::uint64_t type) { return hashed(type) % places; }

  static constexpr std::size_t places = 64;
  std::array<std::atomic<std::uint64_t>, places> words_{};
};

/// Native exchanges: the one that a thread has begun, until it completes something, and those whose
/// first message tells, a number of times. Thread-safe; what two threads begin at once may be counted once.
class alignas(64) NativeMessages {
 public:
  /// Whether this thread has begun a native exchange: then what it begins now is so, too.
  bool is_open() const { return thread_.load(std::memory_order_relaxed) == &this_thread_mark; }
  void open() { thread_.store(&this_thread_mark, std::memory_order_relaxed); }
  /// A thread completes something, it may be another one's. Whether this one had begun an exchange.
  bool end() {
    const char* const thread = thread_.load(std::memory_order_relaxed);
    if (thread != nullptr) thread_.store(nullptr, std::memory_order_relaxed);
    return thread == &this_thread_mark;
  }

  /// Whether the exchange that a message at this place begins is one of those; it is open then.
  bool begins(std::uint64_t place) {
    if (!is_allowed() || !first_messages_.take(place)) return false;
    open();
    return true;
  }
  /// As many of the next exchanges that begin at this place as need not be asked about.
  template <class Pass>
  void put(std::uint64_t place, const Pass& pass) {
    if (first_messages_.has_room(place)) first_messages_.put(place, pass());
  }
  /// Not while others are followed: a message may be of their exchange.
  void allow(bool usable) {
    if (is_allowed() != usable) usable_.store(usable, std::memory_order_relaxed);
  }
  bool is_allowed() const { return usable_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const char*> thread_ = nullptr;
  std::atomic<bool> usable_ = false;
  PassedCalls first_messages_;
};

/// A message, as far as it tells what it begins.
inline std::uint64_t place_of(const void* site, int peer, std::uint64_t type, std::int64_t count) {
  return hashed(hashed(number_of(site) ^ static_cast<std::uint32_t>(peer)) ^ type ^
                (static_cast<std::uint64_t>(count) << 32));
}

}  // namespace wherry::p2p
