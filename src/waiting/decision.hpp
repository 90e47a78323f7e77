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
#include "waiting/host_trials.hpp"

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

/// A part of a trial: a time in which all processes of a host that are in a trial wait alike.
struct TrialSlot {
  std::uint64_t pair;    // it is one of two, of which one polls
  std::uint64_t end_ns;  // of the host's monotonic clock
  bool polls;
  bool is_first;
};

/// Ranks on a host slow each other down: one that spins while another tries polling would find spinning slow. So the
/// clock that they share says who does what and when. Which of the two comes first is random, and so are the lengths:
/// what a program does meanwhile changes, and often in a rhythm.
TrialSlot slot_at(std::uint64_t wall_ns);

/// The decision of one process, by what is asked for, what is known, what is counted and what others of its host tell.
///
/// automatic: where there are more ranks than cores, it polls. Else it spins until others want the core in three
/// stretches in a row: one alone may be the launcher's, or a moment of some daemon, and the delay is known in the third
/// only. Then it tries both in turn, and does what brought more calls for a time that doubles, up to longest_ns, with
/// every trial that ends alike. While trials do not tell, it polls between them unless they speak against it, for longer each
/// time as long as they speak at all. If nobody else wants a core of the host's ranks any more while it polls, it spins
/// again, after a stretch that doubles each time that this was too early.
///
/// A trial is one of all processes that share `trials`, for a rank gains nothing by giving its core away as long as
/// others do not. Its pairs are judged by the calls of all of them, and what it told holds for all.
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
  static constexpr int pairs_of_trial = 4;
  // That do not tell: at first, and at most, while they speak for one of the two.
  static constexpr std::uint64_t between_trials_ns = 100'000'000, longest_between_ns = 400'000'000;
  // Trials tell if in both of the first two pairs spinning made so many times the calls; or if the mean difference is so
  // many standard errors from none, and worth that part of what spinning made. That polling made many times the calls is
  // no reason to end early: where ranks that spin lie on one core, their next move to two may be near.
  static constexpr float clear = 4;
  static constexpr double worth = 0.05, errors = 3.5;
  // After so many pairs fewer are enough for polling; else it spins.
  static constexpr int most_pairs = 32;
  static constexpr double least_errors = 2;
  static constexpr std::uint64_t times_trials =
      25;  // as long as all its pairs, a result of trials holds at least

  /// trials must outlive it.
  Decision(WaitMode asked, const Situation& situation, HostTrials& trials);

  bool polls() const { return polls_; }
  /// Whether a trial goes on.
  bool is_trying() const { return phase_ == Phase::trial; }
  /// Whether counters can change it.
  bool adapts() const { return adapts_; }
  /// Whether a stretch ends at this time, or others have told something, so that the counters are worth reading.
  bool is_due(std::uint64_t wall_ns) const {
    return adapts_ && (wall_ns >= stretch_end_ns() || has_been_told() || is_called(wall_ns));
  }
  /// Whether the counters are to have the delay, which takes several times as long to read as all others. A process that
  /// spins undisturbed can do without.
  bool wants_delay() const { return phase_ == Phase::polling || contended_ > 0; }
  /// The counters at this time. Nothing happens before a stretch is over; the first ones begin it.
  void observe(const Counters& now);
  /// How many trials there were.
  int trials() const { return trials_; }

 private:
  enum class Phase { spinning, trial, polling };
  /// By polling, in calls in a time: the mean, and its standard error.
  struct Gain {
    double mean, error;
  };
  /// What one of the two brought.
  struct Progress {
    std::uint64_t wall_ns = 0, calls = 0;
    void add(const Progress& more) {
      wall_ns += more.wall_ns;
      calls += more.calls;
    }
    /// In a second.
    float rate() const { return static_cast<float>(calls) / static_cast<float>(wall_ns) * 1e9F; }
  };
  struct Both {
    Progress spun, polled;
    bool is_whole() const { return spun.wall_ns > 0 && polled.wall_ns > 0; }
  };

  std::uint64_t stretch_end_ns() const;
  bool has_been_told() const { return host_->last() != known_; }
  bool is_called(std::uint64_t wall_ns) const;
  void go_on(const Counters& now);
  void spin_on(const Counters& now);
  void poll_on(const Counters& now);
  void try_on(const Counters& now);
  void begin_trial(std::uint64_t wall_ns);
  void end_pair(std::uint64_t pair);
  /// Whether polling is better by all trials since the last result; nothing: they do not tell.
  std::optional<bool> result() const;
  Gain gain() const;
  void end_trial(std::uint64_t wall_ns, bool polling_wins);
  std::uint64_t next_verdict_ns(bool polling_wins) const;
  void follow(const HostTrials::Result& result, std::uint64_t wall_ns);
  void rest(std::uint64_t wall_ns);
  bool are_others_free() const;
  void spin_again(std::uint64_t wall_ns);
  void forget_trials();

  HostTrials* host_;
  HostTrials::Result known_;  // of the others
  bool polls_;
  bool adapts_;
  Phase phase_ = Phase::spinning;
  bool begun_ = false;
  int contended_ = 0;            // stretches in a row, while it spun
  Counters begin_;               // of the stretch
  TrialSlot slot_{};             // of the trial
  std::uint64_t trial_end_ = 0;  // before that pair
  Both pair_;                    // the one that goes on
  // Of the pairs of all trials since the last result: how many, the sums of the rates of spinning, and of what polling
  // added to them, and of its squares; and how many were clear.
  int pairs_ = 0;
  double spun_ = 0, gain_ = 0, squares_ = 0;
  int clearly_spins_ = 0;
  std::uint64_t between_ns_ = between_trials_ns;  // the next two
  bool polling_won_ = false;                      // the last result
  int trials_ = 0;
  std::uint64_t verdict_ns_ = 0;  // how long the last trial's result holds, and until when
  std::uint64_t until_ns_ = 0;
  std::uint64_t disturbed_ns_ = 0;  // when it last told that it was
  std::uint64_t spun_again_ns_ = 0;
  std::uint64_t poll_stretch_ns_ = first_poll_stretch_ns;
};

}  // namespace wherry::waiting
