// A learner after training: re-evaluations of native, the winner and challengers, and drift checks of the winner.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/stats.hpp"
#include "tuning/learner.hpp"
#include "tuning/trial_budget.hpp"

namespace wherry::tuning {
namespace {

// Calls of a burst in a re-evaluation, its only trial: a single disturbance must not decide. The rarer the
// re-evaluations, the longer the bursts, within what barriers before their calls may cost: some 2% of all calls at
// first, and less than 1% later.
constexpr std::uint64_t least_reevaluation_calls = settling_calls + 3;
constexpr std::uint64_t confirming_calls = 8;
constexpr std::uint64_t most_reevaluation_calls = 12;
constexpr std::uint64_t calls_per_reevaluation_call = 128;

// Candidates of a re-evaluation besides native and what runs. With two, all of a list have been in two re-evaluations
// after some thousand calls.
constexpr std::size_t most_challengers = 2;

// Re-evaluations in succession that a contested result may bring forward.
constexpr int most_contested = 2;

// Re-evaluations that are remembered: where one call in five takes a thousand times as long, fewer would often show
// none of them.
constexpr std::size_t memory = 8;

// Re-evaluations, of those remembered, at which a challenger must have been better.
constexpr std::ptrdiff_t convincing = 2;

// Calls before a drift check is repeated that found another time than usual, and before the first one of what runs.
constexpr std::uint64_t early_drift_check = 16;

// Drift checks are so many times as far apart while others run in the winner's place: the winner's calls in them are
// 0.8% of all.
constexpr std::uint64_t resting_gaps = 8;

}  // namespace

void Learner::schedule_reevaluation() {
  if (reevaluates()) reevaluation_at_ = calls_ + gap();
}

void Learner::schedule_drift_check() {
  // What is usual is known soon after a re-evaluation: the next one may come as early as a drift check would, and put
  // it off.
  const bool is_urgent =
      suspicious_ || (!usual_s_ && reevaluated_[winner_] && options_.drift_check <= reevaluation_gap_);
  if (!reevaluates() || options_.drift_check == 0) return;
  const std::uint64_t usual = options_.drift_check * (resting_ ? resting_gaps : 1);
  drift_check_at_ = calls_ + (is_urgent ? std::min(early_drift_check, options_.drift_check) : usual);
}

std::uint64_t Learner::gap() const {
  return confirming_ ? std::min(options_.confirm, reevaluation_gap_) : reevaluation_gap_;
}

/// Calls of a re-evaluation's burst.
std::size_t Learner::reevaluation_calls() const {
  if (confirming_) return confirming_calls;
  return std::clamp(reevaluation_gap_ / calls_per_reevaluation_call, least_reevaluation_calls,
                    most_reevaluation_calls);
}

void Learner::begin_reevaluation() {
  std::vector<std::size_t> members = {native};
  if (winner_ != native) members.push_back(winner_);
  std::ranges::copy(challengers(), std::back_inserter(members));
  std::vector<std::size_t> round;
  for (const std::size_t i : members) round.insert(round.end(), reevaluation_calls(), i);
  begin_round(std::move(round));
}

void Learner::begin_drift_check() {
  checking_drift_ = true;
  begin_round(std::vector(least_reevaluation_calls, winner_));
}

/// A single time of training is no reason to keep away from a candidate: a first call may make connections, and take as
/// long as ten.
double Learner::expected_in_reevaluation(std::size_t candidate) const {
  return trusted(candidate) ? mean_seconds(candidate) : expected_by_model(candidate);
}

/// The next candidates in turn whose re-evaluations are affordable together: they may have been unlucky, or the machine
/// may have changed. The candidate of a contested result is re-evaluated alone.
std::vector<std::size_t> Learner::challengers() {
  if (contested_)
    return contested_->better == native ? std::vector<std::size_t>{} : std::vector{contested_->better};
  double left = std::min(options_.reevaluation_share * static_cast<double>(gap()), affordable());
  std::vector<std::size_t> chosen;
  const std::size_t last = last_challenger_;
  for (std::size_t step = 1; step < candidates_.size() && chosen.size() < most_challengers; ++step) {
    const std::size_t i = 1 + (last + step - 1) % (candidates_.size() - 1);
    const double cost = static_cast<double>(reevaluation_calls()) * extra(expected_in_reevaluation(i));
    if (i == winner_ || cost > left) continue;
    left -= cost;
    chosen.push_back(i);
    last_challenger_ = i;
  }
  return chosen;
}

/// By the medians of drift checks: whether everything has become slower is no question of its tail. Bursts of training
/// are too short to compare with: what is usual is known from the first drift check on.
bool Learner::has_changed(double seconds) const {
  return options_.budget > 0 && usual_s_ && differs(seconds, *usual_s_);
}

bool Learner::differs(double seconds, double usual_s) const {
  return seconds > usual_s * options_.changed || seconds * options_.changed < usual_s;
}

/// Whether all that this re-evaluation timed takes another time than it did: then it is the machine, and no tail.
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
  samples_[winner_] = {clamped(seconds)};
  train_again();
  return true;
}

void Learner::end_drift_check(double seconds) {
  if (std::exchange(hastened_, false)) return void(drift_check_at_ = usual_drift_check_at_);
  if (suspect_change(seconds)) return;
  if (!suspicious_) usual_s_ = (usual_s_.value_or(seconds) + seconds) / 2;
  schedule_drift_check();
}

/// All that was learned is of a machine that is no more.
void Learner::train_again() {
  report(EventReason::changed, winner_);
  std::ranges::fill(standing_, Standing::untried);
  standing_[native] = Standing::contender;
  for (auto* const remembered : {&samples_, &native_beside_})
    for (std::vector<double>& values : *remembered) values.clear();
  settled_ = confirming_ = suspicious_ = promoted_ = hastened_ = false;
  contested_.reset();
  reevaluated_.assign(candidates_.size(), false);
  usual_s_.reset();
  reevaluation_gap_ = std::max<std::uint64_t>(options_.reevaluate_first, 1);
  reevaluation_at_ = drift_check_at_ = never_due;
  pause_ = first_pause;
  dismiss_hopeless();
  train();
}

void Learner::remember(std::span<const double> times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!(times[i] < never)) continue;
    for (std::vector<double>* const times_of : {&samples_[i], &native_beside_[i]}) {
      if (!reevaluated_[i]) times_of->clear();
      if (times_of->size() == memory) times_of->erase(times_of->begin());
    }
    reevaluated_[i] = true;
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

/// Whether it is faster in the mean, and so many of its remembered re-evaluations found it so that it is no luck; exact
/// times need no second one. limit: in shares of native's time.
bool Learner::is_convincing(std::size_t candidate, double limit) const {
  std::ptrdiff_t faster = 0;
  for (std::size_t i = 0; i < samples_[candidate].size(); ++i)
    faster += samples_[candidate][i] < limit * native_beside_[candidate][i];
  return faster >= (options_.exact ? 1 : convincing) && (options_.exact || share(candidate) < limit);
}

/// Who was better in this re-evaluation and in another one takes over, native if it was faster in the mean; who was
/// better in this one alone is re-evaluated soon. Shares of native's time are compared: what disturbs a round disturbs
/// all of it.
void Learner::decide(std::span<const double> times) {
  std::vector<double> now(times.size(), never);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] < never) now[i] = clamped(times[i]) / clamped(times[native]);
  const std::size_t next = better_one(now);
  const double usual_share = share(winner_);
  const double limit = std::min(usual_share, 1.0) * (1 - options_.least_gain);
  const bool is_better = next == native ? usual_share > 1 : is_convincing(next, limit);
  const bool is_certain = next == winner_ || (is_better && !suspicious_);
  if (is_certain) take_over(next);
  const int contested = is_certain ? 0 : 1 + (contested_ ? contested_->reevaluations : 0);
  contested_.reset();
  if (contested > 0 && contested <= most_contested) contested_ = {next, contested};
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
  contested_.reset();
  promoted_ = true;
}

void Learner::hasten() {
  if (hastened_ || drift_check_at_ == never_due) return;
  hastened_ = true;
  usual_drift_check_at_ = std::exchange(drift_check_at_, calls_);
}

void Learner::end_reevaluation(std::span<const double> times) {
  hastened_ = false;
  // A changed machine is a reason to learn all anew, not to take what this round tried: a drift check finds out which
  // it is.
  suspicious_ = have_all_changed(times);
  remember(times);
  decide(times);
  if (!std::exchange(confirming_, contested_.has_value()))
    reevaluation_gap_ =
        std::max(reevaluation_gap_, std::min(reevaluation_gap_ * 2, options_.reevaluate_last));
  schedule_reevaluation();
  schedule_drift_check();
}

}  // namespace wherry::tuning
