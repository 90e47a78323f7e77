#include "waiting/decision.hpp"

#include <algorithm>
#include <cmath>
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
          .has_delay = begin.thread != 0 && begin.thread == end.thread && begin.delay_ns <= end.delay_ns,
          .delay = static_cast<double>(end.delay_ns - begin.delay_ns) / std::max(wall_ns, 1.0)};
}

}  // namespace

void PairedRates::add(double spun, double polled) {
  ++pairs_;
  spun_ += spun;
  polled_ += polled;
  squares_ += (polled - spun) * (polled - spun);
}

bool PairedRates::differ(double factor, double errors) const {
  if (pairs_ < 2) return false;
  const double n = pairs_, mean = (polled_ - spun_) / n;
  const double variance = std::max(squares_ / n - mean * mean, 0.0) * n / (n - 1);
  return std::max(polled_, spun_) > factor * std::min(polled_, spun_) &&
         std::abs(mean) > errors * std::sqrt(variance / n);
}

bool is_crowded(const Situation& s) {
  return s.ranks_on_host > 0 && s.cores > 0 && static_cast<double>(s.ranks_on_host) > s.cores;
}

Decision::Decision(WaitMode asked, const Situation& situation)
    : polls_(asked == WaitMode::yield ||
             (asked == WaitMode::automatic && !situation.library_yields && is_crowded(situation))),
      adapts_(asked == WaitMode::automatic && !is_crowded(situation)) {}

TrialSlot slot_at(std::uint64_t wall_ns) {
  constexpr std::uint64_t step_ns = 1'000'000, pair_steps = 25;
  constexpr std::uint64_t least_steps = 8, more_steps = 10;  // of the first slot
  const std::uint64_t pair = wall_ns / (pair_steps * step_ns), begin_ns = pair * pair_steps * step_ns;
  const std::uint64_t random = splitmix(pair);
  const std::uint64_t first_end_ns = begin_ns + (least_steps + random % more_steps) * step_ns;
  const bool first_polls = random >> 63 != 0;
  if (wall_ns < first_end_ns) return {pair, first_end_ns, first_polls};
  return {pair, begin_ns + pair_steps * step_ns, !first_polls};
}

std::uint64_t Decision::stretch_end_ns() const {
  switch (phase_) {
    case Phase::trial: return slot_.end_ns;
    // Between trials that do not tell, the next one is not put off by how long polling was kept before.
    case Phase::polling:
      return begin_.wall_ns + (rates_.pairs() > 0 ? first_poll_stretch_ns : poll_stretch_ns_);
    default: return begin_.wall_ns + shortest_stretch_ns;
  }
}

void Decision::observe(const Counters& now) {
  if (!adapts_) return;
  if (begun_ && !is_due(now.wall_ns)) return;
  if (begun_) switch (phase_) {
      case Phase::spinning: spin_on(now); break;
      case Phase::trial: try_on(now); break;
      case Phase::polling: poll_on(now); break;
    }
  begun_ = true;
  begin_ = now;
}

void Decision::spin_on(const Counters& now) {
  contended_ = between(begin_, now).is_contended() ? contended_ + 1 : 0;
  if (contended_ >= contended_before_trial && now.wall_ns >= until_ns_) begin_trial(now.wall_ns);
}

void Decision::begin_trial(std::uint64_t wall_ns) {
  // The others that want the core now are not those of long ago.
  if (wall_ns > until_ns_ + first_verdict_ns) forget_trials();
  phase_ = Phase::trial;
  slot_ = slot_at(wall_ns);
  polls_ = slot_.polls;
  pairs_in_trial_ = 0;
  pair_ = {};
  if (rates_.pairs() == 0) first_trial_ns_ = wall_ns;
  ++trials_;
}

void Decision::try_on(const Counters& now) {
  Progress& tried = polls_ ? pair_.polled : pair_.spun;
  tried.add({now.wall_ns - begin_.wall_ns, now.calls - begin_.calls});
  const std::uint64_t last_pair = slot_.pair;
  slot_ = slot_at(now.wall_ns);
  polls_ = slot_.polls;
  if (slot_.pair == last_pair) return;
  end_pair();
  const std::optional<bool> polling_wins = result();
  if (polling_wins.has_value()) end_trial(now.wall_ns, *polling_wins);
  else if (pairs_in_trial_ == pairs_of_trial) pause_trials(now.wall_ns);
}

/// One of which a part was missed says nothing: the first, if the trial began within it.
void Decision::end_pair() {
  const Both pair = std::exchange(pair_, {});
  if (!pair.is_whole()) return;
  ++pairs_in_trial_;
  const double spun = pair.spun.rate(), polled = pair.polled.rate();
  rates_.add(spun, polled);
  standstills_ += static_cast<int>(spun > standstill * polled);
}

std::optional<bool> Decision::result() const {
  if (rates_.pairs() == 2 && standstills_ == 2) return false;
  if (pairs_in_trial_ < pairs_of_trial) return std::nullopt;
  if (rates_.differ(worth, errors)) return rates_.polling_is_better();
  return rates_.pairs() >= most_pairs
             ? std::optional(rates_.differ(1, least_errors) && rates_.polling_is_better())
             : std::nullopt;
}

void Decision::end_trial(std::uint64_t wall_ns, bool polling_wins) {
  const bool alike = verdict_ns_ != 0 && polling_wins == decided_.polling_won;
  decided_ = {rates_, polling_wins};
  verdict_ns_ = alike ? std::min(2 * verdict_ns_, longest_ns) : first_verdict_ns;
  until_ns_ = wall_ns + std::max(verdict_ns_, times_trials * (wall_ns - first_trial_ns_));
  // It had not spun for long: the calm came from polling. A neighbor that comes every second is none of that.
  const bool was_early = spun_again_ns_ != 0 && wall_ns - spun_again_ns_ < early_ns;
  poll_stretch_ns_ = was_early ? std::min(2 * poll_stretch_ns_, longest_ns) : first_poll_stretch_ns;
  polls_ = polling_wins;
  phase_ = polling_wins ? Phase::polling : Phase::spinning;
  contended_ = 0;
  forget_trials();
}

void Decision::pause_trials(std::uint64_t wall_ns) {
  polls_ = rates_.polling_is_better() || !rates_.differ(1, least_errors);
  phase_ = polls_ ? Phase::polling : Phase::spinning;
  contended_ = 0;
  until_ns_ = wall_ns + between_trials_ns;
}

void Decision::forget_trials() {
  rates_ = {};
  standstills_ = 0;
}

void Decision::poll_on(const Counters& now) {
  if (between(begin_, now).is_free()) spin_again(now.wall_ns);
  else if (now.wall_ns >= until_ns_) begin_trial(now.wall_ns);
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
