#include "waiting/decision.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/splitmix.hpp"

namespace wherry::waiting {

namespace {

/// How much others wanted the core in a stretch.
struct Pressure {
  std::uint64_t switches;
  double per_s;  // of these, in a second of the process's own time
  bool has_delay;
  double delay;  // its share of the time

  bool is_contended() const {
    return switches >= Decision::least_switches && per_s > Decision::contended_per_s &&
           (!has_delay || delay > Decision::contended_delay);
  }
  bool is_free() const {
    return switches < Decision::least_switches || per_s < Decision::free_per_s ||
           (has_delay && delay < Decision::free_delay);
  }
};

Pressure between(const Counters& begin, const Counters& end) {
  const auto wall_ns = static_cast<double>(end.wall_ns - begin.wall_ns);
  const double cpu_s = static_cast<double>(end.cpu_ns - begin.cpu_ns) * 1e-9;
  const std::uint64_t switches = end.involuntary - begin.involuntary;
  return {.switches = switches,
          .per_s = static_cast<double>(switches) / std::max(cpu_s, 1e-6),
          .has_delay = begin.has_delay && end.has_delay,
          .delay = static_cast<double>(end.delay_ns - begin.delay_ns) / std::max(wall_ns, 1.0)};
}

}  // namespace

bool is_crowded(const Situation& s) {
  return s.ranks_on_host > 0 && s.cores > 0 && static_cast<double>(s.ranks_on_host) > s.cores;
}

Decision::Decision(WaitMode asked, const Situation& situation, HostTrials& trials)
    : host_(&trials),
      polls_(asked == WaitMode::yield ||
             (asked == WaitMode::automatic && !situation.library_yields && is_crowded(situation))),
      adapts_(asked == WaitMode::automatic && !is_crowded(situation)) {}

namespace {

constexpr std::uint64_t step_ns = 1'000'000, pair_steps = 25, pair_ns = pair_steps * step_ns;

std::uint64_t pair_at(std::uint64_t wall_ns) { return wall_ns / pair_ns; }

}  // namespace

TrialSlot slot_at(std::uint64_t wall_ns) {
  constexpr std::uint64_t least_steps = 8, more_steps = 10;  // of the first slot
  const std::uint64_t pair = pair_at(wall_ns), begin_ns = pair * pair_ns;
  const std::uint64_t random = splitmix(pair);
  const std::uint64_t first_end_ns = begin_ns + (least_steps + random % more_steps) * step_ns;
  const bool first_polls = random >> 63 != 0;
  if (wall_ns < first_end_ns) return {pair, first_end_ns, first_polls, true};
  return {pair, begin_ns + pair_ns, !first_polls, false};
}

std::uint64_t Decision::stretch_end_ns() const {
  switch (phase_) {
    case Phase::trial: return slot_.end_ns;
    // Between trials that do not tell, the next one is not put off by how long polling was kept before.
    case Phase::polling: return begin_.wall_ns + (pairs_ > 0 ? first_poll_stretch_ns : poll_stretch_ns_);
    default: return begin_.wall_ns + shortest_stretch_ns;
  }
}

void Decision::observe(const Counters& now) {
  if (!adapts_) return;
  if (begun_ && !is_due(now.wall_ns)) return;
  if (has_been_told()) follow(host_->last(), now.wall_ns);
  else if (begun_ && is_called(now.wall_ns)) begin_trial(now.wall_ns);
  else if (begun_) go_on(now);
  begun_ = true;
  begin_ = now;
}

void Decision::go_on(const Counters& now) {
  switch (phase_) {
    case Phase::spinning: return spin_on(now);
    case Phase::trial: return try_on(now);
    case Phase::polling: return poll_on(now);
  }
}

/// Whether others are in a trial.
bool Decision::is_called(std::uint64_t wall_ns) const {
  return phase_ != Phase::trial && host_->has_begun() && host_->is_on(pair_at(wall_ns));
}

void Decision::spin_on(const Counters& now) {
  const Pressure pressure = between(begin_, now);
  contended_ = pressure.is_contended() ? contended_ + 1 : 0;
  if (pressure.is_free()) forget_trials();
  if (contended_ >= contended_before_trial && now.wall_ns >= until_ns_) begin_trial(now.wall_ns);
}

void Decision::begin_trial(std::uint64_t wall_ns) {
  phase_ = Phase::trial;
  slot_ = slot_at(wall_ns);
  polls_ = slot_.polls;
  // Of this pair too little is left to compare, unless it has just begun.
  trial_end_ = host_->join(slot_.pair, slot_.pair + pairs_of_trial + (slot_.is_first ? 0 : 1));
  pair_ = {};
  ++trials_;
}

void Decision::try_on(const Counters& now) {
  Progress& tried = polls_ ? pair_.polled : pair_.spun;
  tried.add({now.wall_ns - begin_.wall_ns, now.calls - begin_.calls});
  const std::uint64_t last_pair = slot_.pair;
  slot_ = slot_at(now.wall_ns);
  polls_ = slot_.polls;
  if (slot_.pair == last_pair) return;
  end_pair(last_pair);
  const std::optional<bool> polling_wins = result();
  if (polling_wins.has_value()) end_trial(now.wall_ns, *polling_wins);
  else if (slot_.pair >= trial_end_) rest(now.wall_ns);
}

/// Of one of which a part was missed this process has nothing to tell: the first, if the trial began within it.
void Decision::end_pair(std::uint64_t pair) {
  const Both own = std::exchange(pair_, {});
  if (own.is_whole()) host_->add(pair, {own.spun.rate(), own.polled.rate()});
  const std::optional<Rates> all = host_->sum(pair);
  if (!all.has_value()) return;
  ++pairs_;
  const double spun = all->spun, gain = all->polled - spun;
  spun_ += spun;
  gain_ += gain;
  squares_ += gain * gain;
  clearly_spins_ += all->spun > clear * all->polled ? 1 : 0;
}

std::optional<bool> Decision::result() const {
  if (pairs_ == 2 && clearly_spins_ == 2) return false;
  if (slot_.pair < trial_end_ || pairs_ < pairs_of_trial) return std::nullopt;
  const Gain found = gain();
  if (std::abs(found.mean) > std::max(worth * spun_ / pairs_, errors * found.error)) return found.mean > 0;
  return pairs_ >= most_pairs ? std::optional(found.mean > least_errors * found.error) : std::nullopt;
}

Decision::Gain Decision::gain() const {
  const double n = std::max(pairs_, 2), mean = gain_ / n;
  const double variance = std::max(squares_ / n - mean * mean, 0.0) * n / (n - 1);
  return {mean, std::sqrt(variance / n)};
}

void Decision::end_trial(std::uint64_t wall_ns, bool polling_wins) {
  const std::uint64_t holds_ns =
      std::max(next_verdict_ns(polling_wins), times_trials * static_cast<std::uint64_t>(pairs_) * pair_ns);
  host_->end({wall_ns + holds_ns, polling_wins});
  follow(host_->last(), wall_ns);
}

std::uint64_t Decision::next_verdict_ns(bool polling_wins) const {
  const bool alike = verdict_ns_ != 0 && polling_wins == polling_won_;
  return alike ? std::min(2 * verdict_ns_, longest_ns) : first_verdict_ns;
}

void Decision::follow(const HostTrials::Result& result, std::uint64_t wall_ns) {
  known_ = result;
  verdict_ns_ = next_verdict_ns(result.polls);
  polling_won_ = result.polls;
  until_ns_ = result.until_ns;
  // It had not spun for long: the calm came from polling. A neighbor that comes every second is none of that.
  const bool was_early = spun_again_ns_ != 0 && wall_ns - spun_again_ns_ < early_ns;
  poll_stretch_ns_ = was_early ? std::min(2 * poll_stretch_ns_, longest_ns) : first_poll_stretch_ns;
  polls_ = result.polls;
  phase_ = result.polls ? Phase::polling : Phase::spinning;
  contended_ = 0;
  forget_trials();
}

void Decision::rest(std::uint64_t wall_ns) {
  const Gain found = gain();
  polls_ = found.mean > -found.error;
  phase_ = polls_ ? Phase::polling : Phase::spinning;
  contended_ = 0;
  until_ns_ = wall_ns + between_ns_;
  const bool is_likely = std::abs(found.mean) > least_errors * found.error;
  between_ns_ = is_likely ? std::min(2 * between_ns_, longest_between_ns) : between_trials_ns;
}

void Decision::forget_trials() {
  between_ns_ = between_trials_ns;
  pairs_ = clearly_spins_ = 0;
  spun_ = gain_ = squares_ = 0;
}

void Decision::poll_on(const Counters& now) {
  const bool is_free = between(begin_, now).is_free();
  if (!is_free) host_->disturbed(disturbed_ns_ = now.wall_ns);
  if (is_free && are_others_free()) spin_again(now.wall_ns);
  else if (now.wall_ns >= until_ns_) begin_trial(now.wall_ns);
}

/// Others say so only when a stretch of theirs ends.
bool Decision::are_others_free() const {
  const std::uint64_t last_ns = host_->last_disturbed_ns();
  return last_ns == disturbed_ns_ || last_ns + first_poll_stretch_ns <= begin_.wall_ns;
}

void Decision::spin_again(std::uint64_t wall_ns) {
  polls_ = false;
  phase_ = Phase::spinning;
  contended_ = 0;
  until_ns_ = 0;  // others that come now are other ones
  spun_again_ns_ = wall_ns;
  forget_trials();
}

}  // namespace wherry::waiting
