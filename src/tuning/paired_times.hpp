// What pairs of stretches of a program's course show: how much time the calls of one kind save, with its
// interval.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace wherry::tuning {

/// Two stretches next to each other in random order: seconds per call, with all that the program does between
/// calls.
struct TimePair {
  double native_s, other_s;
};

/// The share of native's time that the other one saves; negative: it takes longer. The interval holds the
/// truth at all times together with 95%.
struct Gain {
  double share = 0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool is_known() const { return high - low < std::numeric_limits<double>::infinity(); }
};

/// Pairs in the order in which they were measured. Memory is bounded: full batches are merged, two by two.
///
/// The order within a pair is random, so that what the program does, drifts and periods included, is as
/// likely to be in the one stretch as in the other. So w - (1 - gain) n has mean 0 for a pair (n, w),
/// whatever came before it, and the interval is the asymptotic confidence sequence for means of such
/// differences by Robbins' normal mixture (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas: Time-uniform central
/// limit theory and asymptotic confidence sequences, Annals of Statistics 52, 2024; theorem 2.2). It may be
/// evaluated after each pair.
class PairedTimes {
 public:
  void add(TimePair pair);
  std::uint64_t count() const { return count_; }
  /// Outliers are limited alike on both sides; not known before there are least_for_verdict pairs.
  Gain gain() const { return estimate(least_for_verdict); }
  /// The same, known from least_for_choice pairs on: enough to choose by for a while, not to claim.
  Gain provisional_gain() const { return estimate(least_for_choice); }
  static constexpr std::size_t least_for_verdict = 12, least_for_choice = 4;
  /// The means behind gain(); 0 if there are no pairs.
  TimePair means() const;

 private:
  static constexpr std::size_t most_batches = 256;

  void merge();
  TimePair limits() const;
  TimePair limited_means(TimePair limits) const;
  double deviation(TimePair limits, double share) const;
  Gain estimate(std::size_t least_batches) const;

  std::vector<TimePair> batches_;  // the mean of batch_ pairs each
  std::uint64_t batch_ = 1;        // pairs
  TimePair open_{0, 0};            // sum of the pairs of the batch that is not full
  std::uint64_t open_count_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace wherry::tuning
