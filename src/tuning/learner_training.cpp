// A learner in training: successive elimination within what trials may cost.
#include <algorithm>
#include <utility>

#include "tuning/learner.hpp"
#include "tuning/trial_budget.hpp"

namespace wherry::tuning {
namespace {

// After n times, a contender may be behind the best by this share of the best time, divided by n.
constexpr double patience = 0.6;

// Calls before a pause asks again.
constexpr std::uint64_t longest_pause = 8192;

}  // namespace

bool Learner::wants_trial(std::size_t candidate) const {
  return standing_[candidate] != Standing::dropped && samples_[candidate].size() < enough_trials();
}

std::vector<std::size_t> Learner::by_promise() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (wants_trial(i)) order.push_back(i);
  std::ranges::sort(order, {}, [this](std::size_t i) { return std::pair(expected(i), i); });
  return order;
}

/// One trial for each contender that so many native calls allow, the most promising first, and for an untried one: what
/// it turns out to cost decides whether there is another.
std::vector<std::size_t> Learner::trials_within(double left) const {
  const auto tried =
      std::ranges::count_if(samples_, [](const auto& s) { return !s.empty(); }) - !untried(native);
  bool untried_allowed = static_cast<std::size_t>(tried) < options_.most_tried;
  std::vector<std::size_t> trials;
  for (const std::size_t i : by_promise()) {
    if (trial_cost(i) > left || (untried(i) && !untried_allowed)) continue;
    untried_allowed = untried_allowed && !untried(i);
    // An outlier may be true after all.
    const double measured = untried(i) ? 0 : static_cast<double>(trial_calls()) * extra(mean_seconds(i));
    left -= std::max(trial_cost(i), measured);
    trials.push_back(i);
  }
  return trials;
}

/// What the ranks can afford, in native calls.
double Learner::affordable() const {
  return untried(native) || !(affordable_s_ < never) ? never : affordable_s_ / mean_seconds(native);
}

/// What a trial costs is known once native's time is.
bool Learner::measures_native_first() const { return untried(native) && affordable_s_ < never; }

void Learner::train() {
  if (measures_native_first()) return begin_round(std::vector(usual_calls, native));
  const double left = budget() - spent();
  std::vector<std::size_t> trials = trials_within(left);
  if (trials.empty()) return settle();
  trials = trials_within(std::min(left, affordable()));
  if (trials.empty()) return pause();
  for (const std::size_t i : trials) {
    if (standing_[i] == Standing::untried) report(EventReason::trial, i);
    standing_[i] = Standing::contender;
  }
  // Native is in every round, so that all are compared under the same conditions. Exact times are always comparable.
  std::vector<std::size_t> round;
  if (!options_.exact || untried(native)) trials.insert(trials.begin(), native);
  for (const std::size_t i : trials) round.insert(round.end(), calls_of_next_trial(i), i);
  begin_round(std::move(round));
}

/// The longer the program runs, the more it can afford.
void Learner::pause() {
  resume_at_ = calls_ + pause_;
  pause_ = std::min(2 * pause_, longest_pause);
}

/// Another trial of native brings the ranks together.
void Learner::resume() {
  resume_at_ = never_due;
  begin_round(std::vector(usual_calls, native));
}

void Learner::begin_round(std::vector<std::size_t> trials) {
  round_ = std::move(trials);
  position_ = 0;
  std::ranges::fill(times_, never);
  bursts_.assign(candidates_.size(), {});
}

void Learner::end_training_round(std::span<const double> times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!(times[i] < never)) continue;
    add_sample(i, times[i], times[native] < never ? times[native] : mean_seconds(native));
  }
  drop_losers();
  winner_ = best();
  train();
}

/// The fewer the times, the further a candidate may be behind; with a single one the budget alone decides.
void Learner::drop_losers() {
  double best = 1;
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (standing_[i] == Standing::contender && trusted(i)) best = std::min(best, share(i));
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (standing_[i] == Standing::contender && trusted(i) &&
        share(i) > best * (1 + patience / static_cast<double>(samples_[i].size())))
      drop(i);
}

std::size_t Learner::best() const {
  std::size_t best = native;
  double limit = 1 - options_.least_gain;
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    if (standing_[i] != Standing::contender || !trusted(i) || share(i) >= limit) continue;
    best = i;
    limit = share(i);
  }
  return best;
}

void Learner::settle() {
  settled_ = true;
  keep(best());
  confirming_ = winner_ != native && options_.confirm < reevaluation_gap_;
  schedule_reevaluation();
  schedule_drift_check();
}

}  // namespace wherry::tuning
