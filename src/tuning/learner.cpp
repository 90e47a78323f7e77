#include "tuning/learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/stats.hpp"
#include "tuning/trial_times.hpp"

namespace wherry::tuning {
namespace {

// Agreed times from which on a candidate's time is believed: the first one may contain its set-up.
constexpr std::size_t trusted_trials = 2;

// After n times, a contender may be behind the best by this share of the best time, divided by n.
constexpr double patience = 0.6;

// Calls of a trial. A newcomer has only one: should it be a disaster, it is a short one.
constexpr std::size_t newcomer_calls = 1;
constexpr std::size_t usual_calls = settling_calls + 1;

// Calls before the first look of a learner that begins with a choice: there is less to correct than after training.
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

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::trial: return "trial";
    case Reason::kept: return "kept";
    case Reason::dropped: return "dropped";
    case Reason::loaded: return "loaded";
    case Reason::changed: return "changed";
  }
  return "unknown";
}

Learner::Learner(std::vector<Candidate> candidates, LearnerOptions options)
    : candidates_(std::move(candidates)),
      options_(options),
      standing_(candidates_.size(), Standing::untried),
      samples_(candidates_.size()),
      native_beside_(candidates_.size()),
      shares_(candidates_.size()),
      usual_s_(std::numeric_limits<double>::quiet_NaN()),
      look_gap_(std::max<std::uint64_t>(options.look_first, 1)),
      times_(candidates_.size(), never) {
  require(!candidates_.empty(), "a learner has no candidates; give it at least the native collective");
  fill_predictions(std::span(candidates_).subspan(1));
  standing_[native] = Standing::contender;
  settled_ = candidates_.size() == 1 || !(options_.budget > 0);
  if (settled_) return;
  dismiss_hopeless();
  train();
}

Learner Learner::settled_on(std::vector<Candidate> candidates, std::size_t winner, double seconds,
                            double native_seconds, LearnerOptions options) {
  require(winner < candidates.size(), "the winner of a settled learner is not among its candidates");
  const double budget = std::exchange(options.budget, 0);
  Learner learner(std::move(candidates), options);
  learner.look_gap_ = std::max(learner.look_gap_, least_gap_when_known);
  learner.options_.budget = budget;
  if (known(native_seconds)) learner.samples_[native] = {sane(native_seconds)};
  if (known(seconds)) learner.samples_[winner] = {sane(seconds)};
  learner.standing_[winner] = Standing::contender;
  learner.winner_ = winner;
  learner.report(Reason::loaded, winner);
  learner.schedule_look();
  learner.schedule_glance();
  return learner;
}

Learner Learner::by_model(std::vector<Candidate> candidates) {
  require(!candidates.empty(), "a learner has no candidates; give it at least the native collective");
  fill_predictions(std::span(candidates).subspan(1));
  const auto best =
      std::ranges::min_element(candidates.begin() + 1, candidates.end(), {}, &Candidate::predicted_s);
  const std::size_t winner =
      best == candidates.end() ? native : static_cast<std::size_t>(best - candidates.begin());
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  return settled_on(std::move(candidates), winner, unknown, unknown, no_trials);
}

std::size_t Learner::pick() const { return trying() ? round_[position_] : winner_; }

void Learner::took(double seconds) {
  ++calls_;
  if (trying()) note_trial(sane(seconds));
  else if (!round_.empty()) return;  // its agreement is under way
  else if (calls_ >= look_at_) begin_look();
  else if (calls_ >= glance_at_) begin_glance();
}

std::uint64_t Learner::quiet() const {
  const std::uint64_t due = std::min(look_at_, glance_at_);
  if (!round_.empty() || due <= calls_) return 0;
  return due == never_due ? never_due : due - calls_ - 1;
}

void Learner::skip(std::uint64_t calls) {
  ensure(calls <= quiet(), "only calls that quiet() has promised can be skipped");
  calls_ += calls;
}

/// Whether the next call is the last of its row.
bool Learner::ends_row() const {
  return position_ + 1 == round_.size() || round_[position_ + 1] != round_[position_];
}

bool Learner::counts() const { return trying() && (row_.size() >= settling_calls || ends_row()); }

void Learner::note_trial(double seconds) {
  const bool is_last = ends_row();
  const std::size_t candidate = round_[position_++];
  row_.push_back(seconds);
  if (!is_last) return;
  const auto settled_row = std::span(row_).subspan(std::min(settling_calls, row_.size() - 1));
  times_[candidate] = median(settled_row);
  row_.clear();
}

void Learner::agreed(std::span<const double> times) {
  ensure(round_over(), "agreed() ends a round whose trials are done");
  require(times.size() == candidates_.size(), "agreed times must be one for each candidate");
  round_.clear();
  position_ = 0;
  if (!settled_) end_training_round(times);
  else if (std::exchange(glancing_, false)) end_glance(times[winner_]);
  else end_look(times);
}

// Noise only makes calls longer, so a low order statistic is nearest to the truth: the median would be wrong
// about twice as many machines with disturbances. It is not the minimum, which rewards whoever was tried more
// often.
double Learner::seconds(std::size_t candidate) const { return lower_quartile(samples_.at(candidate)); }

// ---- What to expect ----

std::size_t Learner::enough_trials() const { return options_.exact ? 1 : options_.trials; }

std::size_t Learner::trial_calls() const { return options_.exact ? 1 : usual_calls; }

/// Looks leave the time of one row, which is the median of several calls.
bool Learner::trusted(std::size_t candidate) const {
  return !shares_[candidate].empty() || samples_[candidate].size() >= (options_.exact ? 1 : trusted_trials);
}

/// Measured time per predicted time. The model's scale is often wrong by the same factor for all candidates.
/// One of the ratios says that the best candidate equals native, until trials have shown more.
double Learner::calibration() const {
  if (untried(native)) return 1;
  std::vector<double> ratios = {seconds(native) / best_prediction(std::span(candidates_).subspan(1))};
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (trusted(i)) ratios.push_back(seconds(i) / candidates_[i].predicted_s);
  return median(ratios);
}

double Learner::expected_by_model(std::size_t candidate) const {
  return candidates_[candidate].predicted_s * calibration();
}

/// The next time of a candidate. A single time that is longer than the model's may contain set-up or a
/// disturbance: it is believed half (the geometric mean; sqrt rounds alike on every machine).
double Learner::expected(std::size_t candidate) const {
  const double model = expected_by_model(candidate);
  if (untried(candidate)) return model;
  const double measured = seconds(candidate);
  return trusted(candidate) || measured <= model ? measured : std::sqrt(measured * model);
}

/// Cost of a call beyond a native one, in native calls.
double Learner::extra(double seconds) const {
  return untried(native) ? 0 : std::max(0.0, seconds / this->seconds(native) - 1);
}

std::size_t Learner::calls_of_next_trial(std::size_t candidate) const {
  // Native's first row also settles what came before training: there the ranks met, and did not leave together.
  if (candidate == native) return usual_calls;
  return untried(candidate) ? newcomer_calls : trial_calls();
}

double Learner::budget() const {
  return untried(native) ? options_.budget
                         : std::max(options_.budget, options_.least_budget_s / seconds(native));
}

double Learner::spent() const {
  double sum = 0;
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (!untried(i))
      sum +=
          static_cast<double>(newcomer_calls + (samples_[i].size() - 1) * trial_calls()) * extra(seconds(i));
  return sum;
}

/// What must be left of the budget for one more trial. A first trial is worth little without a second, and
/// its expectation may be wrong by a native call.
double Learner::price(std::size_t candidate) const {
  const double cost = extra(expected(candidate));
  if (!untried(candidate)) return static_cast<double>(trial_calls()) * cost;
  const std::size_t calls = newcomer_calls + (untried(native) || options_.exact ? 0 : usual_calls);
  return static_cast<double>(calls) * cost + (untried(native) ? 0 : 1);
}

// ---- Training: successive elimination ----

void Learner::dismiss_hopeless() {
  const double limit = options_.hopeless * best_prediction(std::span(candidates_).subspan(1));
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (candidates_[i].predicted_s > limit) standing_[i] = Standing::dropped;
}

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

/// One trial for each contender that the budget allows, the most promising first, and for one newcomer: what
/// it turns out to cost decides whether there is another.
std::vector<std::size_t> Learner::next_trials() const {
  const auto tried =
      std::ranges::count_if(samples_, [](const auto& s) { return !s.empty(); }) - !untried(native);
  bool newcomer_allowed = static_cast<std::size_t>(tried) < options_.most_tried;
  double left = budget() - spent();
  std::vector<std::size_t> trials;
  for (const std::size_t i : by_promise()) {
    if (price(i) > left || (untried(i) && !newcomer_allowed)) continue;
    newcomer_allowed = newcomer_allowed && !untried(i);
    left -= std::max(price(i), static_cast<double>(trial_calls()) *
                                   extra(seconds(i)));  // a doubtful time may be true after all
    trials.push_back(i);
  }
  return trials;
}

void Learner::train() {
  std::vector<std::size_t> trials = next_trials();
  if (trials.empty()) {
    settle();
    return;
  }
  for (const std::size_t i : trials) {
    if (standing_[i] == Standing::untried) report(Reason::trial, i);
    standing_[i] = Standing::contender;
  }
  // Native is in every round, so that all are compared under the same conditions. Exact times are always comparable.
  std::vector<std::size_t> round;
  if (!options_.exact || untried(native)) trials.insert(trials.begin(), native);
  for (const std::size_t i : trials) round.insert(round.end(), calls_of_next_trial(i), i);
  begin_round(std::move(round));
}

void Learner::begin_round(std::vector<std::size_t> trials) {
  round_ = std::move(trials);
  position_ = 0;
  std::ranges::fill(times_, never);
}

void Learner::end_training_round(std::span<const double> times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!(times[i] < never)) continue;
    samples_[i].push_back(sane(times[i]));
    native_beside_[i].push_back(times[native] < never ? sane(times[native]) : seconds(native));
  }
  drop_losers();
  winner_ = best();
  train();
}

/// Of native's time in the same rounds. Native is in all of them: the least of its many times would be compared with the
/// least of few.
double Learner::training_share(std::size_t candidate) const {
  return seconds(candidate) / lower_quartile(native_beside_[candidate]);
}

/// The fewer the times, the further a candidate may be behind; with a single one the budget alone decides.
void Learner::drop_losers() {
  double best = 1;
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (trusted(i)) best = std::min(best, training_share(i));
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (standing_[i] == Standing::contender && trusted(i) &&
        training_share(i) > best * (1 + patience / static_cast<double>(samples_[i].size())))
      drop(i);
}

std::size_t Learner::best() const {
  std::size_t best = native;
  double limit = 1 - options_.least_gain;
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    if (standing_[i] != Standing::contender || !trusted(i) || training_share(i) >= limit) continue;
    best = i;
    limit = training_share(i);
  }
  return best;
}

void Learner::settle() {
  settled_ = true;
  keep(best());
  confirming_ = winner_ != native && options_.confirm < look_gap_;
  schedule_look();
  schedule_glance();
}

// ---- Events ----

void Learner::keep(std::size_t candidate) {
  winner_ = candidate;
  standing_[candidate] = Standing::contender;
  report(Reason::kept, candidate);
}

void Learner::drop(std::size_t candidate) {
  standing_[candidate] = Standing::dropped;
  report(Reason::dropped, candidate);
}

void Learner::report(Reason reason, std::size_t candidate) {
  events_.push_back({reason, candidate, calls_, seconds(candidate), seconds(native)});
}

std::vector<Event> Learner::drain_events() { return std::exchange(events_, {}); }

}  // namespace wherry::tuning
