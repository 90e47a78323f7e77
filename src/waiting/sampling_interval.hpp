// After how many calls to read the counters again: often enough to see a stretch end, and seldom enough to cost
// nothing.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wherry::waiting {

/// To read them takes 25 ns, so that in 128 calls it costs nothing; the calls until then may take milliseconds each.
class SamplingInterval {
 public:
  static constexpr std::uint64_t target_ns = 1'000'000;
  static constexpr int most_calls = 128;
  // In a trial a call may all at once take a thousand times as long, and the trial goes on until they are read.
  static constexpr int most_calls_in_trial = 2;

  /// Calls from one reading to the next.
  int calls() const { return calls_; }
  /// The last interval took so long. Twice as many calls if that is too short, so many as would have fitted if it is
  /// too long.
  void adapt(std::uint64_t passed_ns) {
    if (passed_ns < target_ns / 2) {
      calls_ = std::min(2 * calls_, most_calls);
    } else {
      const std::uint64_t scaled = static_cast<std::uint64_t>(calls_) * target_ns;
      calls_ = std::max<int>(1, static_cast<int>(scaled / std::max(passed_ns, target_ns)));
    }
  }
  /// A trial goes on, or has just begun.
  void shorten() { calls_ = std::min(calls_, most_calls_in_trial); }

 private:
  int calls_ = 1;
};

}  // namespace wherry::waiting
