#include "tuning/learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/stats.hpp"
#include "tuning/trial_budget.hpp"

namespace wherry::tuning {
namespace {

// Agreed times from which on a candidate's time is trusted: the first one may contain its set-up.
constexpr std::size_t trusted_trials = 2;

// Calls for which a round is put off at most: who holds it may wait for calls that no longer come.
constexpr std::uint64_t most_held = 256;

// Calls before the first re-evaluation of a learner that begins with a choice: there is less to correct than after
// training.
constexpr std::uint64_t least_gap_when_known = 512;

double best_prediction(std::span<const Candidate> candidates) {
  double best = never;
  for (const Candidate& c : candidates)
    if (known(c.predicted_s)) best = std::min(best, c.predicted_s);
  return best;
}

/// A candidate without an expectation gets the best one: ignorance is a reason to try.
void fill_predictions(std::span<Candidate> candidates) {
  const double best = best_prediction(candidates);
  for (Candidate& c : candidates)
    if (!known(c.predicted_s)) c.predicted_s = known(best) ? best : 1;
}

}  // namespace

std::string_view name_of(EventReason reason) {
  switch (reason) {
    case EventReason::trial: return "trial";
    case EventReason::kept: return "kept";
    case EventReason::dropped: return "dropped";
    case EventReason::loaded: return "loaded";
    case EventReason::changed: return "changed";
  }
  return "unknown";
}

Learner::Learner(std::vector<Candidate> candidates, LearnerOptions options)
    : candidates_(std::move(candidates)),
      options_(options),
      standing_(candidates_.size(), Standing::untried),
      samples_(candidates_.size()),
      native_beside_(candidates_.size()),
      reevaluated_(candidates_.size()),
      affordable_s_(options.affordable_s),
      tried_(candidates_.size()),
      reevaluation_gap_(std::max<std::uint64_t>(options.reevaluate_first, 1)),
      times_(candidates_.size(), never) {
  require(!candidates_.empty(), "a learner has no candidates; give it at least the native collective");
  fill_predictions(std::span(candidates_).subspan(1));
  standing_[native] = Standing::contender;
  settled_ = candidates_.size() == 1 || !(options_.budget > 0);
  if (settled_) return;
  dismiss_hopeless();
  train();
}

Learner Learner::settled_on(std::vector<Candidate> candidates, std::size_t winner,
                            std::optional<double> seconds, std::optional<double> native_seconds,
                            LearnerOptions options) {
  require(winner < candidates.size(), "the winner of a settled learner is not among its candidates");
  const double budget = std::exchange(options.budget, 0);
  Learner learner(std::move(candidates), options);
  learner.reevaluation_gap_ = std::max(learner.reevaluation_gap_, least_gap_when_known);
  learner.options_.budget = budget;
  if (native_seconds && known(*native_seconds)) learner.samples_[native] = {clamped(*native_seconds)};
  if (seconds && known(*seconds)) learner.samples_[winner] = {clamped(*seconds)};
  learner.standing_[winner] = Standing::contender;
  learner.winner_ = winner;
  learner.report(EventReason::loaded, winner);
  learner.schedule_reevaluation();
  learner.schedule_drift_check();
  return learner;
}

Learner Learner::by_model(std::vector<Candidate> candidates) {
  require(!candidates.empty(), "a learner has no candidates; give it at least the native collective");
  fill_predictions(std::span(candidates).subspan(1));
  const auto best =
      std::ranges::min_element(candidates.begin() + 1, candidates.end(), {}, &Candidate::predicted_s);
  const std::size_t winner =
      best == candidates.end() ? native : static_cast<std::size_t>(best - candidates.begin());
  return settled_on(std::move(candidates), winner, std::nullopt, std::nullopt, no_trials);
}

std::size_t Learner::pick() const { return trying() ? round_[position_] : winner_; }

void Learner::took(double seconds) {
  ++calls_;
  if (trying()) note_trial(clamped(seconds));
  else if (!round_.empty() || is_held()) return;  // or its agreement is under way
  else if (calls_ >= resume_at_) resume();
  else if (calls_ >= reevaluation_at_) begin_reevaluation();
  else if (calls_ >= drift_check_at_) begin_drift_check();
}

/// The calls after which a round is due.
std::uint64_t Learner::due() const { return std::min({reevaluation_at_, drift_check_at_, resume_at_}); }

bool Learner::is_held() const { return held_ && (calls_ < due() || calls_ - due() < most_held); }

std::uint64_t Learner::calls_until_decision() const {
  const std::uint64_t due = this->due();
  if (!round_.empty() || due <= calls_) return 0;
  return due == never_due ? never_due : due - calls_ - 1;
}

void Learner::skip(std::uint64_t calls) {
  ensure(calls <= calls_until_decision(), "only calls until the next decision can be skipped");
  calls_ += calls;
}

/// Whether the next call is the last of its burst.
bool Learner::ends_burst() const {
  return position_ + 1 == round_.size() || round_[position_ + 1] != round_[position_];
}

bool Learner::counts() const { return trying() && (burst_.size() >= settling_calls || ends_burst()); }

void Learner::note_trial(double seconds) {
  const bool is_last = ends_burst();
  const std::size_t candidate = round_[position_++];
  burst_.push_back(seconds);
  if (!is_last) return;
  burst_.erase(burst_.begin(),
               burst_.begin() + static_cast<std::ptrdiff_t>(std::min(settling_calls, burst_.size() - 1)));
  std::swap(bursts_[candidate], burst_);
  burst_.clear();
  if (position_ == round_.size()) sum_up();
}

/// A drift check asks what is usual, all other rounds what a call takes in the mean.
void Learner::sum_up() {
  const double factor = tail_limit(std::vector<std::span<const double>>(bursts_.begin(), bursts_.end()));
  for (std::size_t i = 0; i < bursts_.size(); ++i)
    if (!bursts_[i].empty())
      times_[i] = checking_drift_ ? median(bursts_[i]) : limited_mean(bursts_[i], factor);
}

void Learner::agreed(std::span<const double> times, double affordable_s) {
  ensure(round_over(), "agreed() ends a round whose trials are done");
  require(times.size() == candidates_.size(), "agreed times must be one for each candidate");
  affordable_s_ = affordable_s;
  if (!checking_drift_)
    for (const std::size_t i : round_) ++tried_[i];
  round_.clear();
  position_ = 0;
  if (!settled_) end_training_round(times);
  else if (std::exchange(checking_drift_, false)) end_drift_check(times[winner_]);
  else end_reevaluation(times);
}

// ---- Times ----

/// A candidate's first time, native's too, may contain its set-up, and does not count beside two others.
std::span<const double> Learner::counted(std::size_t candidate, std::span<const double> times) const {
  const bool has_others = times.size() > 2 && !reevaluated_[candidate] && !options_.exact;
  return times.subspan(has_others ? 1 : 0);
}

std::optional<double> Learner::seconds(std::size_t candidate) const {
  return samples_.at(candidate).empty() ? std::nullopt : std::optional(mean_seconds(candidate));
}

/// Programs wait for every call, also for the slow ones: the mean counts.
double Learner::mean_seconds(std::size_t candidate) const {
  return limited_mean(counted(candidate, samples_[candidate]), tail_factor());
}

/// Of native's time in the same rounds: what disturbs a round disturbs all of it.
double Learner::share(std::size_t candidate) const {
  const double factor = tail_factor();
  return limited_mean(counted(candidate, samples_[candidate]), factor) /
         limited_mean(counted(candidate, native_beside_[candidate]), factor);
}

double Learner::tail_factor() const {
  std::vector<std::span<const double>> all;
  for (std::size_t i = 0; i < samples_.size(); ++i) all.push_back(counted(i, samples_[i]));
  return tail_limit(all);
}

void Learner::add_sample(std::size_t candidate, double seconds, double native_seconds) {
  samples_[candidate].push_back(clamped(seconds));
  native_beside_[candidate].push_back(clamped(native_seconds));
}

// ---- What to expect ----

std::size_t Learner::enough_trials() const { return options_.exact ? 1 : options_.trials; }

std::size_t Learner::trial_calls() const { return options_.exact ? 1 : usual_calls; }

/// A re-evaluation's burst has several calls that count.
bool Learner::trusted(std::size_t candidate) const {
  return reevaluated_[candidate] || samples_[candidate].size() >= (options_.exact ? 1 : trusted_trials);
}

/// Measured time per predicted time. The model's scale is often wrong by the same factor for all candidates.
/// One of the ratios says that the best candidate equals native, until trials have shown more.
double Learner::calibration() const {
  if (untried(native)) return 1;
  std::vector<double> ratios = {mean_seconds(native) / best_prediction(std::span(candidates_).subspan(1))};
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (trusted(i)) ratios.push_back(mean_seconds(i) / candidates_[i].predicted_s);
  return median(ratios);
}

double Learner::expected_by_model(std::size_t candidate) const {
  return candidates_[candidate].predicted_s * calibration();
}

/// sqrt rounds alike on every machine.
double Learner::expected(std::size_t candidate) const {
  const double model = expected_by_model(candidate);
  if (untried(candidate)) return model;
  const double measured = mean_seconds(candidate);
  return trusted(candidate) || measured <= model ? measured : std::sqrt(measured * model);
}

/// Cost of a call beyond a native one, in native calls.
double Learner::extra(double seconds) const {
  return untried(native) ? 0 : std::max(0.0, seconds / mean_seconds(native) - 1);
}

std::size_t Learner::calls_of_next_trial(std::size_t candidate) const {
  // Native's first burst also settles what came before training: there the ranks met, and did not leave together.
  if (candidate == native) return usual_calls;
  return untried(candidate) ? first_trial_calls : trial_calls();
}

double Learner::budget() const {
  return untried(native) ? options_.budget
                         : std::max(options_.budget, options_.least_budget_s / mean_seconds(native));
}

double Learner::spent() const {
  double sum = 0;
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (!untried(i))
      sum += static_cast<double>(first_trial_calls + (samples_[i].size() - 1) * trial_calls()) *
             extra(mean_seconds(i));
  return sum;
}

double Learner::cost_s() const {
  double sum = earlier_cost_s_;
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (tried_[i] > 0 && !native_beside_[i].empty())
      sum += static_cast<double>(tried_[i]) * std::max(0.0, share(i) - 1) * mean_seconds(native);
  return sum;
}

/// What must be left of the budget for one more trial. A first trial is worth little without a second, and
/// its expectation may be wrong by a native call.
double Learner::trial_cost(std::size_t candidate) const {
  const double cost = extra(expected(candidate));
  if (!untried(candidate)) return static_cast<double>(trial_calls()) * cost;
  const std::size_t calls = first_trial_calls + (untried(native) || options_.exact ? 0 : usual_calls);
  return static_cast<double>(calls) * cost + (untried(native) ? 0 : 1);
}

void Learner::dismiss_hopeless() {
  const double limit = options_.hopeless * best_prediction(std::span(candidates_).subspan(1));
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (candidates_[i].predicted_s > limit) standing_[i] = Standing::dropped;
}

// ---- Events ----

void Learner::keep(std::size_t candidate) {
  winner_ = candidate;
  standing_[candidate] = Standing::contender;
  report(EventReason::kept, candidate);
}

void Learner::drop(std::size_t candidate) {
  standing_[candidate] = Standing::dropped;
  report(EventReason::dropped, candidate);
}

void Learner::report(EventReason reason, std::size_t candidate) {
  events_.push_back({reason, candidate, calls_, seconds(candidate), seconds(native)});
}

std::vector<Event> Learner::drain_events() { return std::exchange(events_, {}); }

}  // namespace wherry::tuning
