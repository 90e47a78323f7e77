// A simulated machine whose ranks each keep a learner, as the runtime would ask them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "base/stats.hpp"
#include "tuning/learner.hpp"
#include "tuning/trials.hpp"

namespace wherry::tuning::simulated {

/// What disturbs the times of a machine.
struct Weather {
  double call_noise = 0;   // standard deviation of the logarithm of a call's time, common to its ranks
  double rank_noise = 0;   // the same, of each rank by itself
  double spikes = 0;       // share of calls that take ten times as long
  double cold = 1;         // a candidate's first call takes up to so many times as long
  double rank_spikes = 0;  // share of a rank's calls that take it ten times as long, whatever the others see
  // Standard deviation of the logarithm of everybody's speed, which changes within some 50 calls.
  double drift = 0;
  std::uint64_t period = 0;  // one call in so many takes three times as long, whoever performs it
  double lateness = 0;       // the last rank arrives so many native calls late, always: the others wait
};

/// A share of a candidate's calls takes so many times as long, on all ranks.
struct Tail {
  double share = 0, times = 1;
};

/// Candidates, their true times, and random numbers with a fixed seed.
class Machine {
 public:
  /// Up to six strategies; `model_error`: standard deviation of the logarithm of truth / prediction.
  Machine(std::uint64_t seed, double model_error, Weather weather) : random_(seed), weather_(weather) {
    const int strategies = 2 + static_cast<int>(random_() % 5);
    candidates_.push_back({"native", 0});
    for (int i = 1; i <= strategies; ++i) candidates_.push_back({"s" + std::to_string(i), spread(0.5)});
    double best = candidates_[1].predicted_s;
    for (const Candidate& c : candidates_)
      if (c.predicted_s > 0) best = std::min(best, c.predicted_s);
    truth_.push_back(best * 1.2 * spread(0.4));
    for (int i = 1; i <= strategies; ++i)
      truth_.push_back(candidates_[static_cast<std::size_t>(i)].predicted_s * spread(model_error));
    warm_.assign(truth_.size(), false);
    tails_.resize(truth_.size());
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }
  double truth(std::size_t candidate) const { return truth_[candidate]; }
  void set_truth(std::size_t candidate, double seconds) { truth_[candidate] = seconds; }
  /// The same with its tail.
  double mean_truth(std::size_t candidate) const {
    const Tail& tail = tails_[candidate];
    return truth_[candidate] * (1 + tail.share * (tail.times - 1));
  }
  double best_mean() const {
    double best = mean_truth(native);
    for (std::size_t i = 1; i < truth_.size(); ++i) best = std::min(best, mean_truth(i));
    return best;
  }
  void set_tail(std::size_t candidate, Tail tail) { tails_[candidate] = tail; }
  double best() const { return *std::min_element(truth_.begin(), truth_.end()); }
  /// What one call of a candidate costs beyond a native one, in native calls.
  double extra(std::size_t candidate) const { return std::max(0.0, truth_[candidate] / truth_[native] - 1); }
  std::uint64_t random() { return random_(); }

  /// How they enter a call: as the program has them, or from a barrier.
  enum class Entry { as_they_come, together };

  /// How long one call takes on each of `ranks` ranks.
  std::vector<double> call(std::size_t candidate, std::size_t ranks, Entry entry) {
    constexpr double stays = 0.98;
    if (weather_.drift > 0)
      slowness_ = std::pow(slowness_, stays) * spread(weather_.drift * std::sqrt(1 - stays * stays));
    double seconds = slowness_ * truth_[candidate] * spread(weather_.call_noise);
    if (chance() < weather_.spikes) seconds *= 10;
    const Tail& tail = tails_[candidate];
    if (tail.share > 0 && chance() < tail.share) seconds *= tail.times;
    if (weather_.period > 0 && calls_++ % weather_.period == 0) seconds *= 3;
    if (!warm_[candidate]) seconds *= 1 + (weather_.cold - 1) * chance();
    warm_[candidate] = true;
    std::vector<double> times;
    for (std::size_t r = 0; r < ranks; ++r) {
      const bool waits = entry == Entry::as_they_come && r + 1 < ranks;
      const double waiting = waits ? weather_.lateness * truth_[native] : 0;
      const double disturbed =
          weather_.rank_spikes > 0 && chance() < weather_.rank_spikes ? 10 * seconds : seconds;
      times.push_back(waiting + disturbed * spread(weather_.rank_noise));
    }
    return times;
  }

 private:
  double chance() { return std::uniform_real_distribution<double>()(random_); }
  double spread(double deviation) {
    const double normal = std::normal_distribution<double>()(random_);
    return std::exp(deviation * normal);
  }

  std::mt19937_64 random_;
  Weather weather_;
  std::vector<Candidate> candidates_;
  std::vector<double> truth_;
  double slowness_ = 1;
  std::vector<bool> warm_;
  std::vector<Tail> tails_;
  std::uint64_t calls_ = 0;
};

/// What a reduction makes of the ranks' summaries: the maximum after barriers, else the sum.
inline std::vector<long long> combined(std::span<const Learner> learners, Trials trials) {
  std::vector<long long> all = to_agree(learners.front().summary());
  for (const Learner& l : learners | std::views::drop(1)) {
    const std::vector<long long> mine = to_agree(l.summary());
    for (std::size_t i = 0; i < mine.size(); ++i)
      all[i] = trials == Trials::after_barriers ? std::max(all[i], mine[i]) : all[i] + mine[i];
  }
  return all;
}

/// The learners of all ranks of a communicator, and the agreement between them.
class Ranks {
 public:
  Ranks(Learner learner, std::size_t ranks, Trials in_training = Trials::as_they_come)
      : learners_(ranks, std::move(learner)), timing_{in_training, Trials::after_barriers} {}

  const Learner& first() const { return learners_.front(); }
  std::vector<Learner>& learners() { return learners_; }
  /// What all calls took so far.
  double elapsed_s() const { return elapsed_s_; }

  /// All learners name the same candidate, and do the same about it: enter a barrier, combine times, and how.
  bool alike() const {
    return std::ranges::all_of(learners_, [&](const Learner& l) {
      return l.pick() == first().pick() && l.counts() == first().counts() &&
             l.round_over() == first().round_over() && trials_of(l, timing_) == trials();
    });
  }

  /// One call: agreed times that are due arrive, the ranks pick, run and time. Returns what ran.
  /// affordable_s: what trials may cost now.
  std::size_t step(Machine& machine, std::uint64_t lag,
                   double affordable_s = std::numeric_limits<double>::infinity()) {
    if (waiting_ && first().calls() >= due_) {
      const int ranks = static_cast<int>(learners_.size());
      const std::vector<double> times = agreed_times(combined_, trials(), ranks);
      for (Learner& l : learners_) l.agreed(times, affordable_s);
      waiting_ = false;
    }
    const std::size_t candidate = first().pick();
    const bool together = meet_before_call(first(), timing_);
    const std::vector<double> times = machine.call(
        candidate, learners_.size(), together ? Machine::Entry::together : Machine::Entry::as_they_come);
    for (std::size_t r = 0; r < learners_.size(); ++r) learners_[r].took(times[r]);
    elapsed_s_ += mean(times);
    if (first().round_over() && !waiting_) start_agreement(lag);
    return candidate;
  }

 private:
  Trials trials() const { return trials_of(first(), timing_); }

  void start_agreement(std::uint64_t lag) {
    combined_ = combined(learners_, trials());
    waiting_ = true;
    due_ = first().calls() + lag;
  }

  std::vector<Learner> learners_;
  Timing timing_;
  double elapsed_s_ = 0;
  std::vector<long long> combined_;
  bool waiting_ = false;
  std::uint64_t due_ = 0;
};

}  // namespace wherry::tuning::simulated
