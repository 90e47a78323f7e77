// Times that a learner can reckon with, and the bursts of calls that they are taken in.
#pragma once

#include <algorithm>
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

}  // namespace wherry::tuning
