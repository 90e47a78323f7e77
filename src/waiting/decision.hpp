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
#include <optional>

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
  std::uint64_t delay_ns = 0;     // in which the thread that calls MPI now could have run and had no core
  std::uint64_t thread = 0;  // that one's number, which comes again when it ends; 0: the delay is not known
  std::uint64_t calls = 0;   // blocking calls of MPI: how far the program has come
};

/// A part of a trial: a time in which all processes of a host that are in a trial wait alike.
struct TrialSlot {
  std::uint64_t pair;    // it is one of two, of which one polls
  std::uint64_t end_ns;  // of the host's monotonic clock
  bool polls;
};

/// Ranks on a host slow each other down: one that spins while another tries polling would find spinning slow. So the
/// clock that they share says who does what and when. Which of the two comes first is random, and so are the lengths:
/// what a program does meanwhile changes, and often in a rhythm.
TrialSlot slot_at(std::uint64_t wall_ns);

/// Rates of blocking calls, in calls per nanosecond, in pairs of slots: a process spins in one and polls in the other.
///
/// Means of rates, not of their logarithms, are what a program gains or loses: ranks that spin may be as fast as alone
/// while each has a core, and stand still while they share one.
class PairedRates {
 public:
  void add(double spun, double polled);
  int pairs() const { return pairs_; }
  /// Whether the larger mean exceeds the smaller one by this factor, and they differ by more than so many standard
  /// errors of their difference. Not of fewer than two pairs.
  bool differ(double factor, double errors) const;
  bool polling_is_better() const { return polled_ > spun_; }
  double mean_spun() const { return pairs_ > 0 ? spun_ / pairs_ : 0; }
  double mean_polled() const { return pairs_ > 0 ? polled_ / pairs_ : 0; }

 private:
  int pairs_ = 0;
  double spun_ = 0, polled_ = 0, squares_ = 0;  // sums; squares_: of the differences
};

/// What trials found: those that decided last, or those under way if none has decided.
struct WaitTrialResult {
  PairedRates rates;
  std::optional<bool> polling_won;  // nothing: not decided
};

/// The decision of one process, by what is asked for, what is known and what is counted.
///
/// automatic: where there are more ranks than cores, it polls. Else it spins until others want the core in three
/// stretches in a row: one alone may be the launcher's, or a moment of some daemon, and the delay is known in the third
/// only. Then it tries both in turn, and does what brought more calls for a time that doubles, up to longest_ns, with
/// every trial that ends alike. While trials do not tell, it polls between them unless polling is worse by two standard
/// errors: a rank that gives its core away gains nothing itself as long as others do not, so that each would find that
/// it does not pay. If nobody else wants the core any more while it polls, it spins again, after a stretch that doubles
/// each time that this was too early.
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
  // Of the wall-clock time. No more than this can be won, however others wait, and to find out costs some percent while
  // it lasts: a launcher that passes on what a program prints takes 3 to 5%.
  static constexpr double contended_delay = 0.10;
  static constexpr double free_delay = 0.03;
  static constexpr int pairs_of_trial = 4;
  static constexpr std::uint64_t between_trials_ns = 100'000'000;  // that do not tell
  // How many times the mean rate of the one is that of the other, at least, for trials to tell. The difference also has
  // to be so many standard errors from 0.
  static constexpr double worth = 1.05, errors = 3.5;
  // If spinning is so many times as fast in both of the first two pairs, it has won: the program stands still while it
  // polls. No such rule for polling: ranks that spin stand still now and then, as long as the kernel has them share a
  // core.
  static constexpr double standstill = 4;
  // After so many pairs fewer are enough for polling; else it spins.
  static constexpr int most_pairs = 32;
  static constexpr double least_errors = 2;
  static constexpr std::uint64_t times_trials = 10;  // that they took, a result of trials holds at least

  Decision(WaitMode asked, const Situation& situation);

  bool polls() const { return polls_; }
  /// Whether a trial goes on.
  bool is_trying() const { return phase_ == Phase::trial; }
  /// Whether counters can change it.
  bool adapts() const { return adapts_; }
  /// Whether a stretch ends at this time, so that the counters are worth reading.
  bool is_due(std::uint64_t wall_ns) const { return adapts_ && wall_ns >= stretch_end_ns(); }
  /// Whether the counters are to have the delay, which takes several times as long to read as all others. A process that
  /// spins undisturbed can do without.
  bool wants_delay() const { return phase_ == Phase::polling || contended_ > 0; }
  /// The counters at this time. Nothing happens before a stretch is over; the first ones begin it.
  void observe(const Counters& now);
  /// How many trials there were.
  int trials() const { return trials_; }
  WaitTrialResult trial_result() const {
    return decided_.polling_won ? decided_ : WaitTrialResult{rates_, {}};
  }

 private:
  enum class Phase { spinning, trial, polling };
  /// What one of the two brought.
  struct Progress {
    std::uint64_t wall_ns = 0, calls = 0;
    void add(const Progress& more) {
      wall_ns += more.wall_ns;
      calls += more.calls;
    }
    double rate() const {
      return wall_ns > 0 ? static_cast<double>(calls) / static_cast<double>(wall_ns) : 0;
    }
  };
  struct Both {
    Progress spun, polled;
    bool is_whole() const { return spun.wall_ns > 0 && polled.wall_ns > 0; }
  };

  std::uint64_t stretch_end_ns() const;
  void spin_on(const Counters& now);
  void poll_on(const Counters& now);
  void try_on(const Counters& now);
  void begin_trial(std::uint64_t wall_ns);
  void end_pair();
  /// Whether polling is better by all trials since the last result; nothing: they do not tell.
  std::optional<bool> result() const;
  void end_trial(std::uint64_t wall_ns, bool polling_wins);
  void pause_trials(std::uint64_t wall_ns);
  void spin_again(std::uint64_t wall_ns);
  void forget_trials();

  bool polls_;
  bool adapts_;
  Phase phase_ = Phase::spinning;
  bool begun_ = false;
  int contended_ = 0;       // stretches in a row, while it spun
  Counters begin_;          // of the stretch
  TrialSlot slot_{};        // of the trial
  int pairs_in_trial_ = 0;  // that are over
  Both pair_;               // the one that is not
  PairedRates rates_;       // of the whole pairs of all trials since the last result
  int standstills_ = 0;     // of these, pairs in which the program stood still while it polled
  std::uint64_t first_trial_ns_ = 0;
  WaitTrialResult decided_;  // last
  int trials_ = 0;
  std::uint64_t verdict_ns_ = 0;  // how long the last trial's result holds, and until when
  std::uint64_t until_ns_ = 0;
  std::uint64_t spun_again_ns_ = 0;
  std::uint64_t poll_stretch_ns_ = first_poll_stretch_ns;
};

}  // namespace wherry::waiting
