#include "waiting/decision.hpp"

#include <algorithm>

namespace wherry::waiting {

bool is_crowded(const Situation& s) {
  return s.ranks_on_host > 0 && s.cores > 0 && static_cast<double>(s.ranks_on_host) > s.cores;
}

Decision::Decision(Waits asked, const Situation& situation)
    : polls_(asked == Waits::yield ||
             (asked == Waits::automatic && !situation.library_yields && is_crowded(situation))),
      adapts_(asked == Waits::automatic && !is_crowded(situation)) {}

void Decision::turn(std::uint64_t wall_ns) {
  // It had not spun for long: the calm came from polling. A neighbor that comes every second is none of that.
  const bool was_early = wall_ns - turned_ns_ < 5 * first_poll_stretch_ns;
  if (!polls_)
    poll_stretch_ns_ = was_early && changes_ > 0 ? std::min(2 * poll_stretch_ns_, longest_stretch_ns)
                                                 : first_poll_stretch_ns;
  polls_ = !polls_;
  was_contended_ = false;
  turned_ns_ = wall_ns;
  ++changes_;
}

void Decision::observe(const Counters& now) {
  if (!adapts_) return;
  if (!begun_) {
    begun_ = true;
    begin_ = now;
    turned_ns_ = now.wall_ns;
    return;
  }
  if (!is_due(now.wall_ns)) return;
  const auto switches = now.involuntary - begin_.involuntary;
  const double cpu_s = static_cast<double>(now.cpu_ns - begin_.cpu_ns) * 1e-9;
  const double rate = static_cast<double>(switches) / std::max(cpu_s, 1e-6);
  begin_ = now;
  const bool contended = switches >= least_switches && rate > contended_per_s;
  const bool is_free = switches < least_switches || rate < free_per_s;
  const bool certain = contended && was_contended_;
  was_contended_ = contended;
  if (polls_ ? is_free : certain) turn(now.wall_ns);
}

}  // namespace wherry::waiting
