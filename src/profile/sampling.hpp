// Which calls of frequent, cheap functions are timed: to book one takes some microseconds where the program's own work
// has driven Wherry out of the caches, as long as a short message.
//
// Every call is counted. While the calls of a function take less than 50 microseconds in the mean, one in eight is
// timed, at random, and stands for those since the last one that was. After 512 timed calls it is one in 64: of so
// many the mean is known within some percent, and more would only cost time.
//
// Which collectives are timed follows from a hash of their number on the communicator, so that ranks that time some of
// them time the same, also where one times more than another. Each communicator counts its untimed ones by itself. A
// call that may wait for others is watched by a clock that costs next to nothing (watch_clock.hpp): one that takes so
// long that this clock knows it stands for itself alone, whether it was to be timed or not.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace wherry::profile {

/// Whether the calls of a function may wait for other ranks.
enum class Waits { never, for_others };

/// Thread-safe are due() and is_due(); timed() needs a lock.
class Sampling {
 public:
  static constexpr std::uint64_t cheap_ns = 50'000;
  /// Timed calls of a function before any is left out. After a long one all are timed until their mean is cheap again.
  static constexpr std::uint32_t first = 64;
  static constexpr std::uint32_t mean_gap = 8;
  /// Timed calls of a function before fewer are, and how many stand for each other then.
  static constexpr std::uint32_t many = 512;
  static constexpr std::uint32_t mean_gap_of_many = 64;

  explicit Sampling(std::size_t functions) : functions_(functions) {}

  /// Of a function not all of whose calls need be timed, besides collectives. All others are.
  void allow(std::uint32_t function, Waits waits) {
    functions_[function].allowed = true;
    functions_[function].waits = waits == Waits::for_others;
  }
  /// Whether a call of such a function that is not timed is to be watched by the cheap clock.
  bool is_watched(std::uint32_t function) const { return functions_[function].waits; }

  /// Of the next call of a function: for how many calls its time stands; 0: it need not be timed.
  std::uint32_t due(std::uint32_t function) {
    Function& f = functions_[function];
    if (!f.allowed) return 1;
    std::uint64_t cycle = f.cycle.load(std::memory_order_relaxed), next = 0;
    do next = left_of(cycle) == 0 ? cycle_of(gap_of(cycle), gap_of(cycle) - 1) : cycle - 1;
    while (!f.cycle.compare_exchange_weak(cycle, next, std::memory_order_relaxed));
    return left_of(cycle) == 0 ? gap_of(cycle) : 0;
  }

  /// Whether a collective must be timed, by its number on the communicator. Its time stands for the untimed ones of the
  /// same function there since the last that was: communicators whose calls take turns may take each another time.
  bool is_due(std::uint32_t function, std::uint64_t sequence) const {
    return is_multiple(sequence, functions_[function].gap.load(std::memory_order_relaxed));
  }
  /// Such a one was timed.
  void timed_collective(std::uint32_t function, std::uint64_t ns) {
    Function& f = functions_[function];
    f.gap.store(is_cheap(f, ns) ? mean_gap_of(f) : 1, std::memory_order_relaxed);
  }

  /// Mean time of the calls of a function that were timed lately for others of their key: the first call of a key may
  /// take more or less than those that follow. Needs a lock.
  std::uint64_t repeated_ns(std::uint32_t function) const {
    const Function& f = functions_[function];
    return f.repeated_ns != 0 ? f.repeated_ns : f.mean_ns;
  }

  /// How many calls with the key of one that was booked may be counted without being timed
  /// (interpose/repeated_calls.hpp). Needs a lock. is_new: timed() was not told of its time.
  std::uint32_t calls_to_count(std::uint32_t function, std::uint64_t ns, bool is_new) {
    Function& f = functions_[function];
    if (is_new) f.repeated_ns = f.repeated_ns == 0 ? ns : mean_with(f.repeated_ns, ns);
    const bool are_cheap = is_new ? is_cheap(f, ns) : f.seen >= first && f.mean_ns < cheap_ns;
    return are_cheap ? next(f) % (2 * mean_gap_of(f) - 1) : 0;
  }
  /// The same by a call that was not timed; nothing: none. 0: the next is timed; it is with the same chance as any.
  std::optional<std::uint32_t> calls_to_count(std::uint32_t function) {
    Function& f = functions_[function];
    if (f.seen < first || f.mean_ns >= cheap_ns) return std::nullopt;
    return next(f) % mean_gap_of(f);
  }
  /// The same of collectives of one rank, which wait for nobody, after the first ones.
  std::uint32_t collectives_to_count(std::uint32_t function) {
    Function& f = functions_[function];
    if (f.alone < first) return ++f.alone, 0;
    return next(f) % (2 * mean_gap - 1);
  }

  /// Whether the hash of a collective's number is a multiple of a power of two.
  static bool is_multiple(std::uint64_t sequence, std::uint64_t power) {
    return (sequence * 0x9e3779b97f4a7c15U >> 32 & (power - 1)) == 0;
  }

  /// One was timed.
  void timed(std::uint32_t function, std::uint64_t ns) {
    Function& f = functions_[function];
    if (!f.allowed) return;
    const std::uint32_t gap = is_cheap(f, ns) ? 1 + next(f) % (2 * mean_gap_of(f) - 1) : 1;
    // Where other threads have counted calls since this one was due, the next one stands for these, too.
    std::uint64_t cycle = f.cycle.load(std::memory_order_relaxed), next = 0;
    do next = cycle_of(gap_of(cycle) - 1 - left_of(cycle) + gap, gap - 1);
    while (!f.cycle.compare_exchange_weak(cycle, next, std::memory_order_relaxed));
  }

 private:
  /// For how many calls the next one that is due stands, and how many come before it. One word: threads share it.
  static constexpr std::uint64_t cycle_of(std::uint32_t gap, std::uint32_t left) {
    return std::uint64_t{gap} << 32 | left;
  }
  static constexpr std::uint32_t gap_of(std::uint64_t cycle) {
    return static_cast<std::uint32_t>(cycle >> 32);
  }
  static constexpr std::uint32_t left_of(std::uint64_t cycle) { return static_cast<std::uint32_t>(cycle); }

  struct Function {
    bool allowed = false, waits = false;
    std::atomic<std::uint64_t> cycle = cycle_of(1, 0);
    std::atomic<std::uint32_t> gap = 1;  // of a collective
    std::uint32_t seen = 0, alone = 0;
    std::uint32_t random = 2463534242;
    std::uint64_t mean_ns = 0, repeated_ns = 0;
  };

  /// A mean of the last ones, with one more.
  static std::uint64_t mean_with(std::uint64_t mean_ns, std::uint64_t ns) {
    constexpr std::uint64_t weight = 16;
    return (mean_ns * (weight - 1) + ns) / weight;
  }

  /// Whether so many have been timed, this one too, and took so little that some may be left out.
  static bool is_cheap(Function& f, std::uint64_t ns) {
    f.mean_ns = f.seen == 0 ? ns : mean_with(f.mean_ns, ns);
    f.seen += f.seen < many;
    return f.seen >= first && f.mean_ns < cheap_ns;
  }
  static std::uint32_t mean_gap_of(const Function& f) { return f.seen < many ? mean_gap : mean_gap_of_many; }

  /// Xorshift (Marsaglia 2003).
  static std::uint32_t next(Function& f) {
    f.random ^= f.random << 13;
    f.random ^= f.random >> 17;
    f.random ^= f.random << 5;
    return f.random;
  }

  std::vector<Function> functions_;
};

/// The collectives of one communicator that were not timed, by function. For whoever may call them there.
class Untimed {
 public:
  /// Of the next one: for how many its time stands; 0: it is not timed.
  std::uint32_t due(std::uint32_t function, bool is_due) {
    std::uint32_t& waiting = of(function);
    if (is_due) return std::exchange(waiting, 0) + 1;
    ++waiting;
    return 0;
  }
  /// So many more were not timed. -1: the last one, which was not due, was long enough for the cheap clock, and stands
  /// for itself.
  void add(std::uint32_t function, std::int64_t calls = 1) {
    std::uint32_t& waiting = of(function);
    waiting = static_cast<std::uint32_t>(waiting + calls);
  }

 private:
  std::uint32_t& of(std::uint32_t function) {
    if (function >= waiting_.size()) [[unlikely]]
      waiting_.resize(function + 1);
    return waiting_[function];
  }

  std::vector<std::uint32_t> waiting_;
};

}  // namespace wherry::profile
