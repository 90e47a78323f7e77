// What something usually takes: the median of the last few measured times. A mean would follow the first of all, and
// those that the system interrupts, which take many times as long.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/floating_point.hpp"

namespace wherry::window {

/// How long something takes, from when it is made.
class Stopwatch {
 public:
  double seconds() const {
    const auto taken = Clock::now() - begin_;
    return computed([&] { return std::chrono::duration<double>(taken).count(); });
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_ = Clock::now();
};

/// The last few of many measurements, each of which knows its seconds().
template <class Measurement>
class LastFew {
 public:
  /// Whether the next should be taken: the first few, and then one in 16, so that two looks at a clock cost little.
  bool is_due() { return seen_++ < kept || seen_ % 16 == 0; }
  void add(const Measurement& measurement) { last_[added_++ % kept] = measurement; }
  /// The median; 0 if there are none.
  double seconds() const {
    if (added_ == 0) return 0;
    std::array<double, kept> sorted{};
    std::ranges::transform(last_, sorted.begin(), &Measurement::seconds);
    const std::size_t known = std::min<std::size_t>(added_, kept), middle = (known - 1) / 2;
    std::nth_element(sorted.begin(), sorted.begin() + middle, sorted.begin() + known);
    return sorted[middle];
  }

 private:
  static constexpr std::size_t kept = 5;  // of which two may be anything

  std::array<Measurement, kept> last_{};
  std::uint32_t seen_ = 0, added_ = 0;
};

struct MeasuredTime {
  double taken_s = 0;

  double seconds() const { return taken_s; }
};

using TypicalTime = LastFew<MeasuredTime>;

}  // namespace wherry::window
