// Which candidate runs in the next call: learned from the first calls, alike on all ranks.
//
// Pure and deterministic: no clock, no messages, no random numbers. The calls of one operation on one
// communicator with about the same size share a learner; every rank keeps its own and they must never
// disagree, for ranks that run different collectives deadlock. So pick() depends on two things only: the
// number of calls so far, which is the same on all ranks because collectives are called in the same order,
// and values that all ranks have agreed on.
//
// Time goes in rounds. A round is a short list of trials, fixed when it begins. Each rank times its trials; then the
// ranks combine summary(), by the mean or the maximum, and give the result to agreed(), which plans the next round or
// settles. docs/design/0003-learner.md has the reasons and the measurements behind the policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wherry::tuning {

/// An algorithm for the operation, with an estimate of its time by whoever made the list: from the cost model alone, or
/// from expected_seconds().
struct Candidate {
  std::string name;
  double predicted_s = 0;  // not finite or not positive: no expectation
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Index of the native collective among the candidates.
inline constexpr std::size_t native = 0;

struct LearnerOptions {
  /// Most time that training may cost beyond native calls, in native calls. 0: try nothing.
  double budget = 3.0;
  /// Seconds that it may cost in any case: a strategy's first call takes some 25 us more than the others, which is ten
  /// calls where a call takes 2 us.
  double least_budget_s = 100e-6;
  /// Seconds that trials may cost until the ranks have agreed on more: see agreed(). 0: native alone comes first.
  double affordable_s = std::numeric_limits<double>::infinity();
  /// Candidates that the model expects to take longer than this times the best candidate are never tried.
  double hopeless = 2.0;
  /// Most candidates tried besides native; raise it together with the budget.
  std::size_t most_tried = 6;
  /// Agreed times that a contender needs before it may be kept. Raise it on noisy machines.
  std::size_t trials = 3;
  /// Times are exact, and no call pays for those before it, as on simulated machines: a single call tells what a
  /// candidate takes, and one trial what native does.
  bool exact = false;
  /// What a candidate must save of the time of what runs now to replace it: less than this is noise.
  double least_gain = 0.04;
  /// Calls before a re-evaluation that is there to confirm: after training's choice of another than native, for
  /// training has short bursts, early in the program (not done if the first one comes at least as early); and after a
  /// contested result, which contradicts those before, unless the next one comes sooner.
  std::uint64_t confirm = 64;
  /// Calls between re-evaluations of the choice; they double from the first to the last.
  /// reevaluate_last 0: never.
  std::uint64_t reevaluate_first = 128;
  std::uint64_t reevaluate_last = 8192;
  /// Most time that a re-evaluation may cost beyond native calls, as a share of the calls since the one before.
  double reevaluation_share = 0.01;
  /// Calls between drift checks of what runs, in which nothing else is tried. 0: never.
  std::uint64_t drift_check = 512;
  /// What runs takes so many times as long as it did, or as little, at two drift checks in succession: things have
  /// changed, and training begins again.
  double changed = 2.0;
};

/// Where calls are much longer than what the ranks say to each other about them.
inline constexpr LearnerOptions of_long_calls = {.reevaluate_first = 64, .drift_check = 64};

/// Nothing is ever tried: with settled_on(), the choice stays what it is.
inline constexpr LearnerOptions no_trials = {.budget = 0, .reevaluate_last = 0};

/// What an event says happened to its candidate.
enum class EventReason { trial, kept, dropped, loaded, changed };

std::string_view name_of(EventReason reason);

/// A step of the learner, the same on all ranks.
struct Event {
  EventReason reason;
  std::size_t candidate;
  std::uint64_t call;                             // calls before it took effect
  std::optional<double> seconds, native_seconds;  // agreed times of the candidate and of native, where known
};

/// Chooses among candidates by successive elimination within a budget.
class Learner {
 public:
  /// candidates[0] is native; throws usage_error if there is none. Alike on all ranks.
  explicit Learner(std::vector<Candidate> candidates, LearnerOptions options = {});

  /// A learner that starts where an earlier one ended, with the times that are known.
  static Learner settled_on(std::vector<Candidate> candidates, std::size_t winner,
                            std::optional<double> seconds, std::optional<double> native_seconds,
                            LearnerOptions options = {});

  /// A learner that assumes the model's times and tries nothing: the candidate with the best prediction, or native
  /// if alone.
  static Learner by_model(std::vector<Candidate> candidates);

  const LearnerOptions& options() const { return options_; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Whether the ranks must agree on what trials may cost.
  bool is_limited() const { return options_.affordable_s < std::numeric_limits<double>::infinity(); }

  /// Whether its choice is questioned later, by calls that take real time.
  bool is_watched() const { return reevaluates() && !options_.exact; }

  /// The candidate to run in the next call.
  std::size_t pick() const;
  /// Whether the next call is part of a trial: only then does its time matter.
  bool trying() const { return position_ < round_.size(); }
  /// Whether its time counts: the first calls of a burst settle what ran before.
  bool counts() const;
  /// How long the call that pick() named took on this rank. Counts the call.
  void took(double seconds);
  std::uint64_t calls() const { return calls_; }

  /// Whether a round has begun whose times the ranks have not agreed on yet.
  bool in_round() const { return !round_.empty(); }
  /// Rounds that are due are put off while this was last called with true, but not for ever. Alike on all ranks.
  void hold(bool held) { held_ = held; }
  /// Whether it matters little what the winner takes, for others run in its place: its drift checks are rarer.
  void rest(bool resting) { resting_ = resting; }

  /// So many of the next calls run the winner, and nothing depends on how long they take.
  std::uint64_t calls_until_decision() const;
  /// That many of them were made: instead of took() for each.
  void skip(std::uint64_t calls);

  /// All trials of the round are done: the ranks must combine summary(). Stays true, and calls
  /// run the winner so far, until agreed(). Also happens after settled(), rarely: a re-evaluation or a drift check.
  bool round_over() const { return !round_.empty() && position_ == round_.size(); }
  /// This rank's time of each candidate in this round, in seconds; +inf if the round does not try it.
  std::vector<double> summary() const { return times_; }
  /// All ranks' summary() combined, the same bits on all of them: ends the round. Must come before the same call on
  /// every rank. affordable_s: agreed as well if is_limited(), what trials may cost from now on beyond native calls.
  /// Where the next ones would cost more, training pauses, and asks again later. Throws contract_error if the round is
  /// not over, usage_error if there is not one time for each candidate.
  void agreed(std::span<const double> times, double affordable_s = std::numeric_limits<double>::infinity());

  /// Training is over: the winner stays, unless a later re-evaluation finds it slower than another, or things have
  /// changed so much that training begins again.
  bool settled() const { return settled_; }
  /// The best candidate known so far; native until another has proved better.
  std::size_t winner() const { return winner_; }
  /// The mean of a candidate's agreed times, outliers limited; nothing if there is none.
  std::optional<double> seconds(std::size_t candidate) const;
  /// Agreed times behind seconds().
  std::size_t trials(std::size_t candidate) const { return samples_.at(candidate).size(); }
  /// Whether the winner rests on more than a single call: on a re-evaluation's burst, or on two trials.
  bool proven() const { return trusted(winner_); }
  /// What trials may cost beyond native calls, in native calls.
  double budget() const;
  /// What they have cost so far, by agreed times.
  double spent() const;
  /// What trials and re-evaluations have cost so far beyond native calls, by the mean times measured so far: seconds.
  double cost_s() const;

  /// What the next call of a candidate is expected to take: its mean or, where it rests on a single call, which may
  /// contain set-up or a disturbance, and was longer than the model says, the geometric mean of the two. Seconds.
  double expected(std::size_t candidate) const;
  /// The fastest candidate but native, by the means so far; none if none was tried.
  std::optional<std::size_t> best_other() const;
  /// The program's course has shown that this one is faster than native, which won here: it takes over, and these
  /// rounds alone do not bring native back. After settled(), alike on all ranks.
  void promote(std::size_t candidate);
  /// The ranks agree on this winner's time now, whatever it is, for what travels with it. Alike on all ranks.
  void hasten();

  /// What happened since the last time this was asked.
  std::vector<Event> drain_events();

 private:
  enum class Standing { untried, contender, dropped };
  struct ContestedResult {
    std::size_t better;  // in one re-evaluation alone
    int reevaluations;   // in succession whose result was contested
  };
  static constexpr std::uint64_t first_pause = 4;
  static constexpr std::uint64_t never_due = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t due() const;
  bool is_held() const;
  bool untried(std::size_t candidate) const { return samples_[candidate].empty(); }
  bool trusted(std::size_t candidate) const;
  std::span<const double> counted(std::size_t candidate, std::span<const double> times) const;
  double mean_seconds(std::size_t candidate) const;
  double tail_factor() const;
  double share(std::size_t candidate) const;
  void add_sample(std::size_t candidate, double seconds, double native_seconds);
  std::size_t enough_trials() const;
  std::size_t trial_calls() const;
  double calibration() const;
  double expected_by_model(std::size_t candidate) const;
  double expected_in_reevaluation(std::size_t candidate) const;
  double extra(double seconds) const;
  std::size_t calls_of_next_trial(std::size_t candidate) const;
  double trial_cost(std::size_t candidate) const;
  bool wants_trial(std::size_t candidate) const;
  std::vector<std::size_t> by_promise() const;
  std::vector<std::size_t> trials_within(double left) const;
  double affordable() const;
  bool measures_native_first() const;
  std::size_t best() const;

  void dismiss_hopeless();
  void drop_losers();
  void train();
  void pause();
  void resume();
  void settle();
  bool ends_burst() const;
  void note_trial(double seconds);
  void sum_up();
  void begin_round(std::vector<std::size_t> trials);
  void end_training_round(std::span<const double> times);

  bool reevaluates() const { return options_.reevaluate_last != 0 && candidates_.size() > 1; }
  void schedule_reevaluation();
  void schedule_drift_check();
  void begin_reevaluation();
  void begin_drift_check();
  void end_reevaluation(std::span<const double> times);
  void end_drift_check(double seconds);
  void remember(std::span<const double> times);
  std::size_t better_one(std::span<const double> shares) const;
  void decide(std::span<const double> times);
  bool is_convincing(std::size_t candidate, double limit) const;
  void take_over(std::size_t candidate);
  bool has_changed(double seconds) const;
  bool differs(double seconds, double usual_s) const;
  bool have_all_changed(std::span<const double> times) const;
  bool suspect_change(double seconds);
  void train_again();
  std::uint64_t gap() const;
  std::size_t reevaluation_calls() const;
  std::vector<std::size_t> challengers();

  void keep(std::size_t candidate);
  void drop(std::size_t candidate);
  void report(EventReason reason, std::size_t candidate);

  std::vector<Candidate> candidates_;
  LearnerOptions options_;

  // Agreed: equal on all ranks.
  std::vector<Standing> standing_;
  std::vector<std::vector<double>> samples_;  // agreed times of each candidate, in the order of rounds
  // Of native, in the same rounds.
  std::vector<std::vector<double>> native_beside_;
  std::vector<std::size_t> round_;  // candidate of each trial of this round; empty: no round
  std::size_t winner_ = 0;
  bool settled_ = false;
  std::vector<bool> reevaluated_;             // the samples are of re-evaluations, no longer of training
  bool confirming_ = false;                   // the next re-evaluation is there to confirm a choice
  std::optional<ContestedResult> contested_;  // of the last re-evaluation
  bool suspicious_ = false;                   // the last drift check found another time than usual
  bool checking_drift_ = false;               // this round is a drift check
  std::optional<double> usual_s_;             // of the winner, in drift checks
  std::size_t last_challenger_ = native;
  std::vector<Event> events_;
  bool held_ = false, resting_ = false;
  bool promoted_ = false;  // the winner, by the program's course
  bool hastened_ = false;  // the next drift check, which is there for what travels with it
  double affordable_s_;
  std::vector<std::uint64_t> tried_;  // calls of each candidate in rounds, since training began
  double earlier_cost_s_ = 0;         // of trainings before

  // Functions of the number of calls: equal on all ranks.
  std::uint64_t calls_ = 0;
  std::size_t position_ = 0;  // trials of this round that are done
  std::uint64_t reevaluation_gap_ = 0;
  std::uint64_t reevaluation_at_ = never_due;  // no sooner than after so many calls
  std::uint64_t drift_check_at_ = never_due;
  std::uint64_t usual_drift_check_at_ = never_due;  // while one is hastened
  std::uint64_t resume_at_ = never_due;             // of training that pauses
  std::uint64_t pause_ = first_pause;               // calls

  // This rank's own: leaves only through summary().
  std::vector<double> burst_;                // of the candidate that is being tried
  std::vector<std::vector<double>> bursts_;  // of this round, the calls that count
  std::vector<double> times_;                // of each candidate in this round
};

}  // namespace wherry::tuning
