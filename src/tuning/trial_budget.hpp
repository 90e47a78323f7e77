// Times of trials that a learner can reckon with, and what the trials of a process may cost: a small share of its run
// so far, and a millisecond to begin with.
//
// A program that makes a dozen long calls is no training ground: one trial of a slow algorithm costs it more than the
// best one could save. The longer it runs, the more may be tried.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>

namespace wherry::tuning {

inline constexpr double never = std::numeric_limits<double>::infinity();

// Bounds of a measured duration: below any clock's step, so that ratios exist, and far beyond any call's time.
inline constexpr double least_s = 1e-9;
inline constexpr double most_s = 1e9;

// Calls of a burst before those that count: they meet the disorder that another strategy left behind (a pairwise
// exchange of 16 KiB blocks over Gigabit takes up to twice as long right after a linear one as after itself).
inline constexpr std::size_t settling_calls = 1;

// Calls of a trial. An untried candidate has only one: should it be a disaster, it is a short one.
inline constexpr std::size_t first_trial_calls = 1;
inline constexpr std::size_t usual_calls = settling_calls + 1;

inline double clamped(double seconds) {
  return std::isnan(seconds) ? most_s : std::clamp(seconds, least_s, most_s);
}

inline bool known(double seconds) { return std::isfinite(seconds) && seconds > 0; }

/// Shared by all learners of a process; thread-safe. The ranks agree on left_s() together with their times, for what it
/// allows decides what runs.
class TrialBudget {
 public:
  static constexpr double least_s = 1e-3;
  static constexpr double share = 0.02;  // of the run

  /// now: seconds on some clock. The run begins here.
  explicit TrialBudget(double (*now)()) : now_(now), begin_s_(now()) {}

  /// Trials have cost so much more than the native calls in their place would have; less, where earlier ones were
  /// overestimated.
  void spend(double seconds) { spent_s_.fetch_add(seconds, std::memory_order_relaxed); }
  double spent_s() const { return spent_s_.load(std::memory_order_relaxed); }
  /// What they may cost from now on; negative: they have turned out to cost more than they may.
  double balance_s() const { return least_s + share * (now_() - begin_s_) - spent_s(); }
  double left_s() const { return std::max(0.0, balance_s()); }

 private:
  double (*now_)();
  double begin_s_;
  std::atomic<double> spent_s_ = 0;
};

}  // namespace wherry::tuning
