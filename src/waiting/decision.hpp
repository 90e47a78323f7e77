// Whether blocking calls spin in the MPI library or poll and give the core away: a pure function of recorded counters.
//
// A rank that spins keeps the core from the rank that it waits for. It does no harm as long as nobody else wants the
// core, and answers soonest. The kernel tells the two apart: it counts how often a thread was made to leave its core
// (involuntary context switches), by the end of its time slice or because a thread that had yielded found another one
// to run, and how long it then waited for one (run-queue delay). Who it is that wants the core it does not tell. To
// yield to the rank that is waited for is worth much; to yield to a stranger gives it a whole time slice, while the
// message comes from another core within microseconds. So where others want the core, both are tried in turn, and the
// calls that the program makes decide.
#pragma once

#include <array>
#include <cstddef>
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
  std::uint64_t delay_ns = 0;     // in which the thread that calls MPI could have run and had no core
  bool has_delay = false;         // whether that is known
  std::uint64_t calls = 0;        // blocking calls of MPI: how far the program has come
};

/// The decision of one process, by what is asked for, what is known and what is counted.
///
/// automatic: where there are more ranks than cores, it polls. Else it spins until others want the core in three
/// stretches in a row: one alone may be the launcher's, or a moment of some daemon, and the delay is known in the third
/// only. Then it tries both in turn, and does what brought more calls for a time that doubles, up to longest_ns, with
/// every trial that ends alike. If nobody else wants the core any more while it polls, it spins again, after a stretch
/// that doubles each time that this was too early.
class Decision {
 public:
  static constexpr std::uint64_t shortest_stretch_ns = 20'000'000;  // some time slices of 3 ms
  static constexpr int contended_before_trial = 3;                  // stretches in a row
  static constexpr std::uint64_t first_poll_stretch_ns = 60'000'000;
  static constexpr std::uint64_t early_ns = 500'000'000;
  static constexpr std::uint64_t first_verdict_ns = 1'000'000'000;
  static constexpr std::uint64_t longest_ns = 10'000'000'000;
  // Two threads that share a core leave it 150 times in a second each; what else a quiet system runs interrupts them 10
  // times.
  static constexpr double contended_per_s = 60;
  static constexpr double free_per_s = 25;
  static constexpr std::uint64_t least_switches = 3;  // in a stretch; fewer may be chance
  // Of the wall-clock time. Less than this cannot be won, however others wait.
  static constexpr double contended_delay = 0.03;
  static constexpr double free_delay = 0.01;
  // Of the calls while it spins. A trial of 50 ms each is no finer.
  static constexpr double worth = 1.05;
  // This much, either way, ends a trial after half of its turns. Less may be the program's own rhythm: polling has to
  // win twice.
  static constexpr double clear = 4;

  Decision(WaitMode asked, const Situation& situation);

  bool polls() const { return polls_; }
  /// Whether a trial goes on.
  bool is_trying() const { return phase_ == Phase::trial; }
  /// Whether counters can change it.
  bool adapts() const { return adapts_; }
  /// Whether a stretch ends at this time, so that the counters are worth reading.
  bool is_due(std::uint64_t wall_ns) const { return adapts_ && wall_ns - begin_.wall_ns >= stretch_ns(); }
  /// Whether the counters are to have the delay, which takes several times as long to read as all others. A process that
  /// spins undisturbed can do without.
  bool wants_delay() const { return phase_ == Phase::polling || contended_ > 0; }
  /// The counters at this time. Nothing happens before a stretch is over; the first ones begin it.
  void observe(const Counters& now);
  /// How many trials there were.
  int trials() const { return trials_; }

 private:
  enum class Phase { spinning, trial, polling };
  /// What one of the two brought.
  struct Progress {
    std::uint64_t wall_ns = 0, calls = 0;
    double rate() const {
      return wall_ns > 0 ? static_cast<double>(calls) / static_cast<double>(wall_ns) : 0;
    }
  };
  /// Of a trial. Neither comes first each time, and no length comes again: what the program does meanwhile changes, and
  /// often in a rhythm. Together both take as long.
  struct Turn {
    bool polls;
    std::uint64_t length_ns;
  };
  static constexpr std::array<Turn, 8> turns = {{{true, 7'000'000},
                                                 {false, 17'000'000},
                                                 {false, 9'000'000},
                                                 {true, 16'000'000},
                                                 {true, 12'000'000},
                                                 {false, 11'000'000},
                                                 {false, 13'000'000},
                                                 {true, 15'000'000}}};

  std::uint64_t stretch_ns() const;
  void spin_on(const Counters& now);
  void poll_on(const Counters& now);
  void try_on(const Counters& now);
  void begin_trial();
  bool polling_leads() const { return pairs_won_ >= 3 && polled_.rate() > worth * spun_.rate(); }
  void end_trial(std::uint64_t wall_ns, bool polling_wins);
  void spin_again(std::uint64_t wall_ns);

  bool polls_;
  bool adapts_;
  Phase phase_ = Phase::spinning;
  bool begun_ = false;
  int contended_ = 0;         // stretches in a row, while it spun
  Counters begin_;            // of the stretch
  std::size_t turn_ = 0;      // of the trial
  Progress spun_, polled_;    // in it
  double last_rate_ = 0;      // of its last turn
  int pairs_won_ = 0;         // by polling, of two turns that follow each other
  bool polling_led_ = false;  // in the last one
  bool polling_won_ = false;  // the last result
  int trials_ = 0;
  std::uint64_t verdict_ns_ = 0;  // how long the last trial's result holds, and until when
  std::uint64_t until_ns_ = 0;
  std::uint64_t spun_again_ns_ = 0;
  std::uint64_t poll_stretch_ns_ = first_poll_stretch_ns;
};

}  // namespace wherry::waiting
