#include "tuning/paired_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/stats.hpp"
#include "tuning/trial_budget.hpp"

namespace wherry::tuning {
namespace {

constexpr double alpha = 0.05;

// Pairs for which the interval is the narrowest possible.
constexpr double tightest_at = 64;

/// Half the width of the interval of a mean of n values with deviation 1.
double margin(double n) {
  const double rho2 = (-2 * std::log(alpha) + std::log(-2 * std::log(alpha) + 1)) / tightest_at;
  const double grown = n * rho2 + 1;
  return std::sqrt(2 * grown * std::log(std::sqrt(grown) / alpha) / (n * n * rho2));
}

}  // namespace

void PairedTimes::add(TimePair pair) {
  ++count_;
  open_.native_s += clamped(pair.native_s);
  open_.other_s += clamped(pair.other_s);
  if (++open_count_ < batch_) return;
  const double size = static_cast<double>(batch_);
  batches_.push_back({open_.native_s / size, open_.other_s / size});
  open_ = {0, 0};
  open_count_ = 0;
  if (batches_.size() == most_batches) merge();
}

void PairedTimes::merge() {
  for (std::size_t i = 0; i < batches_.size() / 2; ++i) {
    const TimePair &first = batches_[2 * i], &second = batches_[2 * i + 1];
    batches_[i] = {(first.native_s + second.native_s) / 2, (first.other_s + second.other_s) / 2};
  }
  batches_.resize(batches_.size() / 2);
  batch_ *= 2;
}

/// The most that a time of either side counts: the same multiple of the least of its side.
TimePair PairedTimes::limits() const {
  std::array<std::vector<double>, 2> times;
  for (const TimePair& pair : batches_) times[0].push_back(pair.native_s), times[1].push_back(pair.other_s);
  const double factor = tail_limit(std::array<std::span<const double>, 2>{times[0], times[1]});
  return {factor * std::ranges::min(times[0]), factor * std::ranges::min(times[1])};
}

TimePair PairedTimes::limited_means(TimePair limits) const {
  TimePair sum{0, 0};
  for (const TimePair& pair : batches_) {
    sum.native_s += std::min(pair.native_s, limits.native_s);
    sum.other_s += std::min(pair.other_s, limits.other_s);
  }
  const double n = static_cast<double>(batches_.size());
  return {sum.native_s / n, sum.other_s / n};
}

TimePair PairedTimes::means() const { return batches_.empty() ? TimePair{0, 0} : limited_means(limits()); }

/// Standard deviation of one pair's difference from what this share says.
double PairedTimes::deviation(TimePair limits, double share) const {
  double squares = 0;
  for (const TimePair& pair : batches_) {
    const double difference =
        std::min(pair.other_s, limits.other_s) - (1 - share) * std::min(pair.native_s, limits.native_s);
    squares += difference * difference;
  }
  // n - 2 degrees of freedom, for the share and its side's mean come from the same times. The deviation of few is
  // uncertain itself: Student's t with f of them has the variance f / (f - 2), if there are more than two.
  const double freedom = std::max(1.0, static_cast<double>(batches_.size()) - 4);
  return std::sqrt(squares / freedom * static_cast<double>(batch_));
}

Gain PairedTimes::estimate(std::size_t least_batches) const {
  if (batches_.empty()) return {};
  const TimePair limit = limits(), mean = limited_means(limit);
  const double share = 1 - mean.other_s / mean.native_s;
  if (batches_.size() < least_batches) return {.share = share};
  const double pairs = static_cast<double>(batches_.size() * batch_);
  const double half = deviation(limit, share) * margin(pairs) / mean.native_s;
  return {.share = share, .low = share - half, .high = share + half};
}

}  // namespace wherry::tuning
