#include "waiting/decision.hpp"

#include <algorithm>
#include <utility>

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

Decision::Decision(WaitMode asked, const Situation& situation)
    : polls_(asked == WaitMode::yield ||
             (asked == WaitMode::automatic && !situation.library_yields && is_crowded(situation))),
      adapts_(asked == WaitMode::automatic && !is_crowded(situation)) {}

std::uint64_t Decision::stretch_ns() const {
  switch (phase_) {
    case Phase::trial: return turns[turn_].length_ns;
    case Phase::polling: return poll_stretch_ns_;
    default: return shortest_stretch_ns;
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
  if (contended_ >= contended_before_trial && now.wall_ns >= until_ns_) begin_trial();
}

void Decision::begin_trial() {
  phase_ = Phase::trial;
  turn_ = 0;
  polls_ = turns[0].polls;
  spun_ = polled_ = {};
  pairs_won_ = 0;
  ++trials_;
}

void Decision::try_on(const Counters& now) {
  const Progress turn{now.wall_ns - begin_.wall_ns, now.calls - begin_.calls};
  Progress& all = polls_ ? polled_ : spun_;
  all.wall_ns += turn.wall_ns;
  all.calls += turn.calls;
  if (turn_ % 2 == 1) pairs_won_ += polls_ ? turn.rate() > last_rate_ : turn.rate() < last_rate_;
  last_rate_ = turn.rate();
  ++turn_;
  if (turn_ == turns.size() / 2) {
    if (pairs_won_ == 2 && polled_.rate() > clear * spun_.rate()) return end_trial(now.wall_ns, true);
    if (pairs_won_ == 0 && spun_.rate() > clear * polled_.rate()) return end_trial(now.wall_ns, false);
  }
  if (turn_ < turns.size()) return void(polls_ = turns[turn_].polls);
  const bool led_before = std::exchange(polling_led_, polling_leads());
  if (polling_led_ && !led_before) return begin_trial();
  end_trial(now.wall_ns, polling_led_);
}

void Decision::end_trial(std::uint64_t wall_ns, bool polling_wins) {
  const bool alike = verdict_ns_ != 0 && polling_wins == polling_won_;
  polling_led_ = polling_wins;
  polling_won_ = polling_wins;
  verdict_ns_ = alike ? std::min(2 * verdict_ns_, longest_ns) : first_verdict_ns;
  until_ns_ = wall_ns + verdict_ns_;
  // It had not spun for long: the calm came from polling. A neighbor that comes every second is none of that.
  const bool was_early = spun_again_ns_ != 0 && wall_ns - spun_again_ns_ < early_ns;
  poll_stretch_ns_ = was_early ? std::min(2 * poll_stretch_ns_, longest_ns) : first_poll_stretch_ns;
  polls_ = polling_wins;
  phase_ = polling_wins ? Phase::polling : Phase::spinning;
  contended_ = 0;
}

void Decision::poll_on(const Counters& now) {
  if (between(begin_, now).is_free()) spin_again(now.wall_ns);
  else if (now.wall_ns >= until_ns_) begin_trial();
}

void Decision::spin_again(std::uint64_t wall_ns) {
  polls_ = false;
  phase_ = Phase::spinning;
  contended_ = 0;
  until_ns_ = 0;  // others that come now are other ones
  spun_again_ns_ = wall_ns;
}

}  // namespace wherry::waiting
