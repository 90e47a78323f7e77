// A synthetic program whose ranks each keep a controlled trial, as the runtime would ask them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "base/stats.hpp"
#include "tuning/controlled_trial.hpp"
#include "tuning/trial_budget.hpp"

namespace wherry::tuning::simulated {

/// What the steps of a program take.
struct World {
  const char* name;
  double noise = 0.05;       // standard deviation of the logarithm of a step's time
  double rank_noise = 0.01;  // the same, of each rank by itself
  double lateness = 0;       // the last rank is so many steps late, always
  // A share of the steps takes so many times as long, whoever performs the call.
  double tail_share = 0, tail_times = 1;
  bool is_natives_tail = false;  // else whoever's
  std::uint64_t long_step = 0;   // one step in so many takes twice as long
  std::uint64_t kinds = 1;       // calls of different lengths in turns
  double drift = 0;              // all steps take so many times as long at the end
  double step_s = 100e-6;
};

/// The trials of all ranks, and what they meet.
class Program {
 public:
  /// gain: the share of native's step that Wherry saves.
  Program(std::uint64_t seed, double gain, const World& world, std::uint64_t steps, std::size_t ranks = 2,
          Arm usual = Arm::other)
      : random_(seed),
        gain_(gain),
        world_(world),
        steps_(steps),
        trials_(ranks, ControlledTrial(usual)),
        clocks_s_(ranks) {}

  const ControlledTrial& first() const { return trials_.front(); }
  double elapsed_s() const { return clocks_s_.front(); }
  std::uint64_t calls() const { return calls_; }
  std::uint64_t calls_of(Arm arm) const { return arms_[static_cast<std::size_t>(arm)]; }
  /// The share of the program's time that Wherry saves: a rank that is late adds to every step.
  double true_gain() const { return gain_ / (1 + world_.lateness / mean_factor()); }
  /// What pairs may cost now.
  double allowed_s() const { return TrialBudget::least_s + TrialBudget::share * elapsed_s(); }
  void set_gain(double gain) { gain_ = gain; }
  /// A learner's trials begin or end before the next step.
  void round_called() {
    for (ControlledTrial& trial : trials_) trial.round_called();
  }
  void round_begins() {
    for (ControlledTrial& trial : trials_) trial.round_begins();
  }
  void round_ends() {
    for (ControlledTrial& trial : trials_) trial.round_ends();
  }
  /// Calls that an agreement takes, from now on; less than between_agreements.
  void set_lag(std::uint64_t lag) { lag_ = lag; }
  static constexpr std::uint64_t between_agreements = 64;

  /// One step; what ran. Agreements are made as drift checks of a learner are.
  Arm step() {
    agree();
    std::vector<Arm> arms;
    for (std::size_t r = 0; r < trials_.size(); ++r) arms.push_back(begin(r));
    for (const Arm arm : arms) alike_ = alike_ && arm == arms.front();
    const double seconds = duration(arms.front());
    for (double& clock_s : clocks_s_) clock_s += seconds * spread(world_.rank_noise);
    meet();
    ++arms_[static_cast<std::size_t>(arms.front())];
    ++calls_;
    return arms.front();
  }
  bool alike() const { return alike_; }

 private:
  Arm begin(std::size_t rank) {
    ControlledTrial& trial = trials_[rank];
    if (trial.wants_clock()) trial.enter(clocks_s_[rank]);
    return trial.begin(&kinds_[calls_ % world_.kinds],
                       std::llround(world_.step_s * mean_factor() * gain_ * 1e9));
  }

  double mean_factor() const { return static_cast<double>(1 + world_.kinds) / 2; }

  double duration(Arm arm) {
    double seconds = world_.step_s * spread(world_.noise) * (arm == Arm::other ? 1 - gain_ : 1);
    seconds *= static_cast<double>(1 + calls_ % world_.kinds);
    const bool may_be_long = arm == Arm::native || !world_.is_natives_tail;
    if (world_.tail_share > 0 && may_be_long && chance() < world_.tail_share) seconds *= world_.tail_times;
    if (world_.long_step > 0 && calls_ % world_.long_step == 0) seconds *= 2;
    return seconds * (1 + (world_.drift - 1) * (world_.drift > 0) * static_cast<double>(calls_) /
                              static_cast<double>(steps_));
  }

  /// The ranks leave a collective together, but one that is late.
  void meet() {
    const double last_s = *std::ranges::max_element(clocks_s_);
    for (double& clock_s : clocks_s_) clock_s = last_s;
    clocks_s_.back() += world_.lateness * world_.step_s;
  }

  void agree() {
    if (calls_ % between_agreements == 0) {
      timed_ = calls_ / between_agreements % 2 == 0 ? Trials::as_they_come : Trials::after_barriers;
      combined_ = trials_.front().to_agree(left_s(), timed_);
      taken_ = trials_.front().snapshot();
      agree_at_ = lag_;
      for (std::size_t r = 1; r < trials_.size(); ++r) combine(trials_[r].to_agree(left_s(), timed_));
    } else if (calls_ % between_agreements == agree_at_) {
      double charge_s = 0;
      for (ControlledTrial& trial : trials_) {
        trial.agreed(combined_, timed_, static_cast<int>(trials_.size()), taken_);
        charge_s = trial.charge();
      }
      charged_s_ += charge_s;
    }
  }
  void combine(std::span<const long long> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      combined_[i] =
          timed_ == Trials::after_barriers ? std::max(combined_[i], numbers[i]) : combined_[i] + numbers[i];
  }
  double left_s() const { return allowed_s() - charged_s_; }

  double chance() { return std::uniform_real_distribution<double>()(random_); }
  double spread(double deviation) {
    return std::exp(deviation * std::normal_distribution<double>()(random_) - deviation * deviation / 2);
  }

  std::mt19937_64 random_;
  double gain_;
  World world_;
  std::uint64_t steps_;
  std::vector<ControlledTrial> trials_;
  std::vector<double> clocks_s_;
  double charged_s_ = 0;
  std::vector<long long> combined_;
  ControlledTrial::Snapshot taken_;
  Trials timed_ = Trials::as_they_come;
  std::uint64_t lag_ = 2, agree_at_ = 2;
  std::uint64_t calls_ = 0;
  std::uint64_t arms_[2] = {0, 0};
  char kinds_[CallPeriod::most] = {};
  bool alike_ = true;
};

}  // namespace wherry::tuning::simulated
