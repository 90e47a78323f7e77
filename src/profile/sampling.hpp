// Which calls of frequent, cheap functions are timed: to read a clock twice takes as long as MPI_Irecv does.
//
// Every call is counted. Of functions that cannot wait for another rank, while their calls take less than a microsecond
// in the mean, one in eight is timed, at random, and stands for those since the last one that was. After 4096 timed
// calls it is one in 64: of so many the mean is known within some percent, and more would only cost time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wherry::profile {

/// Thread-safe is due(); timed() needs a lock.
class Sampling {
 public:
  static constexpr std::uint64_t cheap_ns = 1000;
  /// Timed calls of a function before any is left out, and again after one that took much longer than cheap ones do.
  static constexpr std::uint32_t first = 64;
  static constexpr std::uint32_t mean_gap = 8;
  /// Timed calls of a function before fewer are, and how many stand for each other then.
  static constexpr std::uint32_t many = 4096;
  static constexpr std::uint32_t mean_gap_of_many = 64;

  explicit Sampling(std::size_t functions) : functions_(functions) {}

  /// Of a function whose calls take about equally long: none waits for another rank. All others are timed in every
  /// call.
  void allow(std::uint32_t function) { functions_[function].allowed = true; }

  /// Of the next call of a function: for how many calls its time stands; 0: it need not be timed.
  std::uint32_t due(std::uint32_t function) {
    Function& f = functions_[function];
    if (!f.allowed) return 1;
    std::uint32_t left = f.left.load(std::memory_order_relaxed);
    const std::uint32_t gap = f.gap.load(std::memory_order_relaxed);
    while (!f.left.compare_exchange_weak(left, left == 0 ? gap - 1 : left - 1, std::memory_order_relaxed)) {
    }
    return left == 0 ? gap : 0;
  }

  /// One was timed.
  void timed(std::uint32_t function, std::uint64_t ns) {
    constexpr std::uint64_t weight = 16;
    Function& f = functions_[function];
    if (!f.allowed) return;
    f.mean_ns = f.seen == 0 ? ns : (f.mean_ns * (weight - 1) + ns) / weight;
    f.seen = ns > 8 * cheap_ns ? 1 : f.seen + (f.seen < many);
    const std::uint32_t mean = f.seen < many ? mean_gap : mean_gap_of_many;
    const std::uint32_t gap = f.seen < first || f.mean_ns >= cheap_ns ? 1 : 1 + next(f) % (2 * mean - 1);
    f.gap.store(gap, std::memory_order_relaxed);
    f.left.store(gap - 1, std::memory_order_relaxed);
  }

 private:
  struct Function {
    bool allowed = false;
    std::atomic<std::uint32_t> gap = 1, left = 0;
    std::uint32_t seen = 0;
    std::uint32_t random = 2463534242;
    std::uint64_t mean_ns = 0;
  };

  /// Xorshift (Marsaglia 2003).
  static std::uint32_t next(Function& f) {
    f.random ^= f.random << 13;
    f.random ^= f.random >> 17;
    f.random ^= f.random << 5;
    return f.random;
  }

  std::vector<Function> functions_;
};

}  // namespace wherry::profile
