// Statistics of small samples. One absurd value cannot move them far, except the plain mean.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace wherry {

/// The value that a fraction q (0..1) of the samples does not exceed, interpolated between neighbors; NaN if
/// empty.
inline double quantile(std::span<const double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double at = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = at - static_cast<double>(below);
  // No interpolation towards a neighbor of no weight: it may be infinite.
  return weight == 0 ? sorted[below] : sorted[below] + weight * (sorted[above] - sorted[below]);
}

inline double median(std::span<const double> samples) { return quantile(samples, 0.5); }

/// The least sample; NaN if empty.
inline double minimum(std::span<const double> samples) { return quantile(samples, 0); }

inline double mean(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

/// The mean of times, none of which counts as more than `factor` times the least.
inline double limited_mean(std::span<const double> times, double factor) {
  const double limit = factor * *std::min_element(times.begin(), times.end());
  double sum = 0;
  for (const double time : times) sum += std::min(time, limit);
  return sum / static_cast<double>(times.size());
}

/// The most that a time may count, in times the least of its list: as much as the second of all lists that exceeds its
/// least, for what was seen twice is a tail; or a tenth of the first, which may be a disturbance. One limit for all
/// lists.
inline double tail_limit(std::span<const std::span<const double>> lists) {
  constexpr double seen_once = 0.1;
  double largest = 1, second = 1;
  for (const std::span<const double> times : lists) {
    if (times.empty()) continue;
    const double least = *std::min_element(times.begin(), times.end());
    for (const double time : times) {
      const double factor = time / least;
      second = std::max(second, std::min(factor, largest));
      largest = std::max(largest, factor);
    }
  }
  return std::max(second, seen_once * largest);
}

}  // namespace wherry
