// A learner after training: looks, each at native, the winner and challengers, and glances at the winner.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/stats.hpp"
#include "tuning/learner.hpp"
#include "tuning/trial_times.hpp"

namespace wherry::tuning {
namespace {

// Calls of a row in a look, its only trial: a single disturbance must not decide. The rarer the looks, the longer the
// rows, within what barriers before their calls may cost: some 2% of all calls at first, and less than 1% later.
constexpr std::uint64_t least_look_calls = settling_calls + 3;
constexpr std::uint64_t confirming_calls = 8;
constexpr std::uint64_t most_look_calls = 12;
constexpr std::uint64_t calls_per_look_call = 128;

// Candidates of a look besides native and what runs. With two, all of a list have been in two looks after some thousand
// calls.
constexpr std::size_t most_challengers = 2;

// Looks in a row that a doubt may bring forward.
constexpr int most_doubts = 2;

// Looks that are remembered: where one call in five takes a thousand times as long, fewer would often show none of
// them.
constexpr std::size_t memory = 8;

// Looks, of those remembered, at which a challenger must have been better.
constexpr std::ptrdiff_t convincing = 2;

// Calls before a glance is repeated that found another time than usual, and before the first one of what runs.
constexpr std::uint64_t early_glance = 16;

// Glances are so many times as far apart while others run in the winner's place: the winner's calls in them are 0.8% of
// all.
constexpr std::uint64_t resting_gaps = 8;

}  // namespace

void Learner::schedule_look() {
  if (looks_back()) look_at_ = calls_ + gap();
}

void Learner::schedule_glance() {
  // What is usual is known soon after a look: the next one may come as early as a glance would, and put it off.
  const bool is_urgent = suspicious_ || (!usual_s_ && looked_at_[winner_] && options_.glance <= look_gap_);
  if (!looks_back() || options_.glance == 0) return;
  const std::uint64_t usual = options_.glance * (resting_ ? resting_gaps : 1);
  glance_at_ = calls_ + (is_urgent ? std::min(early_glance, options_.glance) : usual);
}

std::uint64_t Learner::gap() const { return confirming_ ? std::min(options_.confirm, look_gap_) : look_gap_; }

/// Calls of a look's row.
std::size_t Learner::look_calls() const {
  if (confirming_) return confirming_calls;
  return std::clamp(look_gap_ / calls_per_look_call, least_look_calls, most_look_calls);
}

void Learner::begin_look() {
  std::vector<std::size_t> members = {native};
  if (winner_ != native) members.push_back(winner_);
  std::ranges::copy(challengers(), std::back_inserter(members));
  std::vector<std::size_t> round;
  for (const std::size_t i : members) round.insert(round.end(), look_calls(), i);
  begin_round(std::move(round));
}

void Learner::begin_glance() {
  glancing_ = true;
  begin_round(std::vector(least_look_calls, winner_));
}

/// A single time of training is no reason to keep away from a candidate: a first call may make connections, and take as
/// long as ten.
double Learner::expected_in_look(std::size_t candidate) const {
  return trusted(candidate) ? mean_seconds(candidate) : expected_by_model(candidate);
}

/// The next candidates in turn whose looks are affordable together: they may have been unlucky, or the machine may have
/// changed. Who looked better than what runs is looked at again, alone.
std::vector<std::size_t> Learner::challengers() {
  if (doubt_) return doubt_->better == native ? std::vector<std::size_t>{} : std::vector{doubt_->better};
  double left = std::min(options_.look_share * static_cast<double>(gap()), affordable());
  std::vector<std::size_t> chosen;
  const std::size_t last = last_challenger_;
  for (std::size_t step = 1; step < candidates_.size() && chosen.size() < most_challengers; ++step) {
    const std::size_t i = 1 + (last + step - 1) % (candidates_.size() - 1);
    const double cost = static_cast<double>(look_calls()) * extra(expected_in_look(i));
    if (i == winner_ || cost > left) continue;
    left -= cost;
    chosen.push_back(i);
    last_challenger_ = i;
  }
  return chosen;
}

/// By the medians of glances: whether everything has become slower is no question of its tail. Rows of training are too
/// short to compare with: what is usual is known from the first glance on.
bool Learner::has_changed(double seconds) const {
  return options_.budget > 0 && usual_s_ && differs(seconds, *usual_s_);
}

bool Learner::differs(double seconds, double usual_s) const {
  return seconds > usual_s * options_.changed || seconds * options_.changed < usual_s;
}

/// Whether all that this look timed takes another time than it did: then it is the machine, and no tail.
bool Learner::have_all_changed(std::span<const double> times) const {
  if (!has_changed(times[winner_])) return false;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] < never && !untried(i) && !differs(times[i], mean_seconds(i))) return false;
  return true;
}

/// Training begins again at the second time in a row: a machine that several programs share is slow for a moment now
/// and then.
bool Learner::suspect_change(double seconds) {
  const bool changed = has_changed(seconds);
  const bool certain = changed && suspicious_;
  suspicious_ = changed;
  if (!certain) return false;
  earlier_cost_s_ = cost_s();
  std::ranges::fill(tried_, 0);
  samples_[winner_] = {sane(seconds)};
  train_again();
  return true;
}

void Learner::end_glance(double seconds) {
  if (std::exchange(hastened_, false)) return void(glance_at_ = usual_glance_at_);
  if (suspect_change(seconds)) return;
  if (!suspicious_) usual_s_ = (usual_s_.value_or(seconds) + seconds) / 2;
  schedule_glance();
}

/// All that was learned is of a machine that is no more.
void Learner::train_again() {
  report(Reason::changed, winner_);
  std::ranges::fill(standing_, Standing::untried);
  standing_[native] = Standing::contender;
  for (auto* const remembered : {&samples_, &native_beside_})
    for (std::vector<double>& values : *remembered) values.clear();
  settled_ = confirming_ = suspicious_ = promoted_ = hastened_ = false;
  doubt_.reset();
  looked_at_.assign(candidates_.size(), false);
  usual_s_.reset();
  look_gap_ = std::max<std::uint64_t>(options_.look_first, 1);
  look_at_ = glance_at_ = never_due;
  pause_ = first_pause;
  dismiss_hopeless();
  train();
}

void Learner::remember(std::span<const double> times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!(times[i] < never)) continue;
    for (std::vector<double>* const times_of : {&samples_[i], &native_beside_[i]}) {
      if (!looked_at_[i]) times_of->clear();
      if (times_of->size() == memory) times_of->erase(times_of->begin());
    }
    looked_at_[i] = true;
    add_sample(i, times[i], times[native]);
  }
}

/// What should run by these shares of native's time: the winner unless native is faster, or another by more than noise.
std::size_t Learner::better_one(std::span<const double> shares) const {
  std::size_t next = shares[winner_] > shares[native] && !promoted_ ? native : winner_;
  for (std::size_t i = 1; i < shares.size(); ++i)
    if (shares[i] < shares[next] * (1 - options_.least_gain)) next = i;
  return next;
}

/// Whether it is faster in the mean, and so many of its remembered looks found it so that it is no luck; exact times
/// need no second one. limit: in shares of native's time.
bool Learner::is_convincing(std::size_t candidate, double limit) const {
  std::ptrdiff_t faster = 0;
  for (std::size_t look = 0; look < samples_[candidate].size(); ++look)
    faster += samples_[candidate][look] < limit * native_beside_[candidate][look];
  return faster >= (options_.exact ? 1 : convincing) && (options_.exact || share(candidate) < limit);
}

/// Who was better in this look and in another one takes over, native if it was faster in the mean; who was better in
/// this one alone is looked at again soon. Shares of native's time are compared: what disturbs a look disturbs all of
/// it.
void Learner::decide(std::span<const double> times) {
  std::vector<double> now(times.size(), never);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] < never) now[i] = sane(times[i]) / sane(times[native]);
  const std::size_t next = better_one(now);
  const double usual_share = share(winner_);
  const double limit = std::min(usual_share, 1.0) * (1 - options_.least_gain);
  const bool is_better = next == native ? usual_share > 1 : is_convincing(next, limit);
  const bool is_certain = next == winner_ || (is_better && !suspicious_);
  if (is_certain) take_over(next);
  const int doubts = is_certain ? 0 : 1 + (doubt_ ? doubt_->looks : 0);
  doubt_.reset();
  if (doubts > 0 && doubts <= most_doubts) doubt_ = {next, doubts};
}

void Learner::take_over(std::size_t candidate) {
  if (candidate == winner_) return;
  promoted_ = false;
  if (winner_ != native) drop(winner_);
  keep(candidate);
  usual_s_.reset();
}

std::optional<std::size_t> Learner::best_other() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 1; i < candidates_.size(); ++i)
    if (!untried(i) && (!best || mean_seconds(i) < mean_seconds(*best))) best = i;
  return best;
}

void Learner::promote(std::size_t candidate) {
  take_over(candidate);
  doubt_.reset();
  promoted_ = true;
}

void Learner::hasten() {
  if (hastened_ || glance_at_ == never_due) return;
  hastened_ = true;
  usual_glance_at_ = std::exchange(glance_at_, calls_);
}

void Learner::end_look(std::span<const double> times) {
  hastened_ = false;
  // A changed machine is a reason to learn all anew, not to take what this look tried: a glance finds out which it is.
  suspicious_ = have_all_changed(times);
  remember(times);
  decide(times);
  if (!std::exchange(confirming_, doubt_.has_value()))
    look_gap_ = std::max(look_gap_, std::min(look_gap_ * 2, options_.look_last));
  schedule_look();
  schedule_glance();
}

}  // namespace wherry::tuning
