// After how many calls a program's calls repeat.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace wherry::tuning {

/// Remembers the kinds of the last calls. Kinds are only compared: alike on all ranks whatever stands for
/// them.
class CallPeriod {
 public:
  using Kind = const void*;
  static constexpr std::size_t most = 64;  // calls of the longest period that is found

  void add(Kind kind) { kinds_[calls_++ % memory] = kind; }

  /// The least period of the last calls, seen twice at least; 0 if there is none.
  std::size_t find() const {
    for (std::size_t period = 1; period <= most && 2 * period <= known(); ++period)
      if (repeats(period)) return period;
    return 0;
  }

 private:
  static constexpr std::size_t memory = 3 * most;

  std::size_t known() const { return calls_ < memory ? static_cast<std::size_t>(calls_) : memory; }
  Kind back(std::size_t i) const { return kinds_[(calls_ - 1 - i) % memory]; }
  bool repeats(std::size_t period) const {
    for (std::size_t i = 0; i + period < known(); ++i)
      if (back(i) != back(i + period)) return false;
    return true;
  }

  std::array<Kind, memory> kinds_{};
  std::uint64_t calls_ = 0;
};

}  // namespace wherry::tuning
