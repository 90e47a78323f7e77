// Whether blocking calls spin in the MPI library or poll and give the core away: a pure function of recorded counters.
//
// A rank that spins keeps the core from the rank that it waits for. It does no harm as long as nobody else wants the core, and
// answers soonest. The kernel tells the two apart: it counts how often a thread was made to leave its core (involuntary context
// switches), by the end of its time slice or because a thread that had yielded found another one to run.
#pragma once

#include <cstdint>

#include "base/settings.hpp"

namespace wherry::waiting {

/// What is known of the process before it has waited.
struct Situation {
  int ranks_on_host = 0;  // 0: unknown
  double cores = 0;       // that these ranks may use together; 0: unknown
  bool library_yields =
      false;  // the library gives the core away by itself where there are more ranks than cores
};

/// Whether there are more ranks than cores. Not where one of the two is unknown.
bool is_crowded(const Situation& situation);

/// Counters of a process since it began.
struct Counters {
  std::uint64_t wall_ns = 0;
  std::uint64_t cpu_ns = 0;       // of all its threads
  std::uint64_t involuntary = 0;  // context switches, the same
};

/// The decision of one process, by what is asked for, what is known and what is counted.
///
/// automatic: where there are more ranks than cores, it polls. Else it spins until the kernel counts more than contended_per_s
/// switches in a second of its own time, in two stretches in a row (one alone may be the launcher's, or a moment of some daemon), polls as long as there are more than free_per_s, and tries again to spin after a stretch that
/// doubles, up to longest_stretch_ns, each time that this was too early.
class Decision {
 public:
  static constexpr std::uint64_t shortest_stretch_ns = 20'000'000;  // some time slices of 3 ms
  static constexpr std::uint64_t first_poll_stretch_ns = 100'000'000;
  static constexpr std::uint64_t longest_stretch_ns = 10'000'000'000;
  // Two threads that share a core leave it 150 times in a second each; what else a quiet system runs interrupts them 10 times.
  static constexpr double contended_per_s = 60;
  static constexpr double free_per_s = 25;
  static constexpr std::uint64_t least_switches = 3;  // in a stretch; fewer may be chance

  Decision(Waits asked, const Situation& situation);

  bool polls() const { return polls_; }
  /// Whether counters can change it.
  bool adapts() const { return adapts_; }
  /// Whether a stretch ends at this time, so that the counters are worth reading.
  bool is_due(std::uint64_t wall_ns) const { return adapts_ && wall_ns - begin_.wall_ns >= stretch_ns(); }
  /// The counters at this time. Nothing happens before a stretch is over; the first ones begin it.
  void observe(const Counters& now);
  /// How often it has changed.
  int changes() const { return changes_; }

 private:
  std::uint64_t stretch_ns() const { return polls_ ? poll_stretch_ns_ : shortest_stretch_ns; }
  void turn(std::uint64_t wall_ns);

  bool polls_;
  bool adapts_;
  bool begun_ = false;
  bool was_contended_ = false;  // in the last stretch, while it spun
  Counters begin_;              // of the stretch
  std::uint64_t turned_ns_ = 0;
  std::uint64_t poll_stretch_ns_ = first_poll_stretch_ns;
  int changes_ = 0;
};

}  // namespace wherry::waiting
