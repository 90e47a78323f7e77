// Statistics of small samples. All are order statistics: one absurd value cannot move them far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace wherry {

/// The value that a fraction q (0..1) of the samples does not exceed, interpolated between neighbours; NaN if
/// empty.
inline double quantile(std::span<const double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double at = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = at - static_cast<double>(below);
  // No interpolation towards a neighbour of no weight: it may be infinite.
  return weight == 0 ? sorted[below] : sorted[below] + weight * (sorted[above] - sorted[below]);
}

inline double median(std::span<const double> samples) { return quantile(samples, 0.5); }

/// The least sample; NaN if empty.
inline double minimum(std::span<const double> samples) { return quantile(samples, 0); }

/// One of the samples, a quarter of the way up: the least of up to 4, the second of 5 to 8, and so on. NaN if
/// empty. For times, which noise only makes longer: nearly the undisturbed time, yet one that was seen twice
/// as soon as there are enough samples to ask for it.
inline double lower_quartile(std::span<const double> samples) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(samples.begin(), samples.end());
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 4);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

}  // namespace wherry
