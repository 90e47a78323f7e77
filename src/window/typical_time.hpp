// What something usually takes, by the times of some of many: the median of the last ones, for the first of all and those that the
// system interrupts take many times as long.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace wherry::window {

class TypicalTime {
 public:
  /// Whether this one's time should be taken: that of the first ones and then of one in 16.
  bool is_due() { return seen_++ < kept || seen_ % 16 == 0; }
  void add(double seconds) {
    last_[added_++ % kept] = seconds;
    std::array<double, kept> sorted = last_;
    const std::size_t known = std::min<std::size_t>(added_, kept), middle = (known - 1) / 2;
    std::nth_element(sorted.begin(), sorted.begin() + middle, sorted.begin() + known);
    median_ = sorted[middle];
  }
  /// 0 if no time is known.
  double seconds() const { return median_; }

 private:
  static constexpr std::size_t kept = 7;

  std::array<double, kept> last_{};
  double median_ = 0;
  std::uint32_t seen_ = 0, added_ = 0;
};

}  // namespace wherry::window
