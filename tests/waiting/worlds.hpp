// Worlds of recorded counters, and a process that lives in them, for the tests of how blocking calls wait.
#pragma once

#include <cstdint>
#include <string>

#include "waiting/decision.hpp"

namespace wherry::waiting {

inline constexpr std::uint64_t ms = 1'000'000;
inline constexpr Situation two_on_two{.ranks_on_host = 2, .cores = 2, .library_yields = false};

/// What a process counts in one of the two ways to wait: involuntary switches in a second of its own time and the share
/// of the time without a core, as measured on two cores under Linux 6, and its blocking calls in a millisecond.
struct Counted {
  double switches;
  double delay;
  double calls = 100;
};
struct World {
  std::string name;
  Counted spinning, polling;
};
inline const World alone{"alone", {10, 0.001}, {5, 0.001}};
/// The rank that is waited for has to have this core.
inline const World sharing_a_core{"sharing a core", {160, 0.5, 1}, {4000, 0.3, 50}};
/// The rank that is waited for has a core; what wants this one is another program's.
inline const World beside_a_stranger{"beside a stranger", {160, 0.2, 80}, {300, 0.6, 40}};
/// Others want the core only as long as this process spins: those of its own kind.
inline const World calm_while_polling{"calm while polling", {200, 0.3, 20}, {2, 0.0, 60}};
/// Many, but each one takes microseconds.
inline const World short_daemons{"short daemons", {300, 0.01}, {300, 0.01, 90}};
/// The launcher passes on what the program prints.
inline const World printing{"printing", {400, 0.06}, {400, 0.05, 92}};

/// A process that is looked at every millisecond.
class Process {
 public:
  explicit Process(WaitMode asked, const Situation& situation, bool has_delay = true)
      : decision(asked, situation), has_delay_(has_delay) {
    step(alone);
  }

  /// Milliseconds of these that it has polled.
  int live(const World& world, int milliseconds) {
    int polled = 0;
    for (int i = 0; i < milliseconds; ++i) {
      polled += decision.polls();
      step(world);
    }
    return polled;
  }

  /// Milliseconds in which it does not call MPI, so that nobody looks.
  void rest(const World& world, int milliseconds) { pass(world, milliseconds, 0); }

  Decision decision;
  double calls() const { return calls_; }

 private:
  void pass(const World& world, int milliseconds, double share_of_calls) {
    const Counted& counted = decision.polls() ? world.polling : world.spinning;
    now_.wall_ns += static_cast<std::uint64_t>(milliseconds) * ms;
    now_.cpu_ns += static_cast<std::uint64_t>(milliseconds) * ms;
    switches_ += milliseconds * counted.switches / 1000;
    delay_ms_ += milliseconds * counted.delay;
    calls_ += milliseconds * counted.calls * share_of_calls;
    now_.involuntary = static_cast<std::uint64_t>(switches_);
    now_.thread = has_delay_ && decision.wants_delay() ? 1 : 0;
    now_.delay_ns = now_.thread != 0 ? static_cast<std::uint64_t>(delay_ms_ * ms) : 0;
    now_.calls = static_cast<std::uint64_t>(calls_);
  }
  void step(const World& world) {
    pass(world, 1, 1);
    decision.observe(now_);
  }

  Counters now_;
  bool has_delay_;
  double switches_ = 0, delay_ms_ = 0, calls_ = 0;
};

}  // namespace wherry::waiting
