// A learner after training: looks, each at native, the winner and one challenger, and glances at the winner.
#include <algorithm>
#include <limits>
#include <utility>

#include "choose/believable.hpp"
#include "choose/learner.hpp"

namespace wherry::choose {
namespace {

// Calls of a row in a look, its only trial: a single disturbance must not decide. The rarer the looks, the longer the
// rows: short calls in short rows are seen at their best or worst, not as they are in the long run.
constexpr std::uint64_t least_look_calls = settling_calls + 3;
constexpr std::uint64_t most_look_calls = 16;
constexpr std::uint64_t calls_per_look_call = 64;

}  // namespace

void Learner::schedule_look() {
  if (looks_back()) look_at_ = calls_ + gap();
}

void Learner::schedule_glance() {
  if (looks_back() && options_.glance != 0) glance_at_ = calls_ + options_.glance;
}

std::uint64_t Learner::gap() const { return confirming_ ? options_.confirm : look_gap_; }

/// Calls of a look's row.
std::size_t Learner::look_calls() const {
  if (confirming_) return most_look_calls;
  return std::clamp(look_gap_ / calls_per_look_call, least_look_calls, most_look_calls);
}

void Learner::begin_look() {
  std::vector<std::size_t> members = {native};
  for (const std::size_t i : {winner_, challenger()})
    if (std::ranges::find(members, i) == members.end()) members.push_back(i);
  std::vector<std::size_t> round;
  for (const std::size_t i : members) round.insert(round.end(), look_calls(), i);
  begin_round(std::move(round));
}

void Learner::begin_glance() {
  glancing_ = true;
  begin_round(std::vector(least_look_calls, winner_));
}

/// The next candidate in turn whose look is affordable: it may have been unlucky, or the machine may have
/// changed. Native if there is none.
std::size_t Learner::challenger() {
  const double most = options_.look_share * static_cast<double>(gap());
  for (std::size_t step = 1; step < candidates_.size(); ++step) {
    const std::size_t i = 1 + (last_challenger_ + step - 1) % (candidates_.size() - 1);
    if (i == winner_ || static_cast<double>(look_calls()) * extra(expected(i)) > most) continue;
    return last_challenger_ = i;
  }
  return native;
}

/// Rows of training are too short to compare with: what is usual is known from the first look or glance on.
bool Learner::has_changed(double seconds) const {
  return options_.budget > 0 && known(usual_s_) &&
         (seconds > usual_s_ * options_.changed || seconds * options_.changed < usual_s_);
}

void Learner::end_glance(double seconds) {
  if (has_changed(seconds)) {
    samples_[winner_] = {sane(seconds)};
    train_again();
    return;
  }
  if (!known(usual_s_)) usual_s_ = seconds;
  schedule_glance();
}

/// All that was learned is of a machine that is no more.
void Learner::train_again() {
  report(Reason::changed, winner_);
  std::ranges::fill(standing_, Standing::untried);
  standing_[native] = Standing::contender;
  for (std::vector<double>& samples : samples_) samples.clear();
  settled_ = looked_ = confirming_ = false;
  usual_s_ = std::numeric_limits<double>::quiet_NaN();
  look_gap_ = std::max<std::uint64_t>(options_.look_first, 1);
  look_at_ = glance_at_ = never_due;
  dismiss_hopeless();
  train();
}

void Learner::end_look(std::span<const double> times) {
  if (has_changed(times[winner_])) {
    samples_[winner_] = {sane(times[winner_])};
    train_again();
    return;
  }
  looked_ = true;
  const std::size_t before = winner_;
  std::size_t next = times[winner_] > times[native] ? native : winner_;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] < times[next] * (1 - options_.least_gain)) next = i;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] < never) samples_[i] = {sane(times[i])};
  if (next != before) {
    if (before != native) drop(before);
    keep(next);
  }
  usual_s_ = times[next];
  if (!std::exchange(confirming_, false))
    look_gap_ = std::max(look_gap_, std::min(look_gap_ * 2, options_.look_last));
  schedule_look();
  schedule_glance();
}

}  // namespace wherry::choose
