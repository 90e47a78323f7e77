// One learner at work: the calls of one operation and size on one communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/channel.hpp"
#include "tuning/controlled_trial.hpp"
#include "tuning/learner.hpp"
#include "tuning/trial_budget.hpp"
#include "tuning/trials.hpp"

namespace wherry::run {

using tuning::Timing;
using tuning::Trials;

/// What is compared in the program's own course: the communicator's trial, who pays for it, and a clock in seconds. No
/// trial: the learner's choice always runs.
struct Comparison {
  tuning::ControlledTrial* trial = nullptr;
  tuning::TrialBudget* budget = nullptr;
  double (*now)() = nullptr;
};

/// A learner and the agreement of its ranks, which travels while the program goes on.
///
/// Where times are exact, the program's calls begin together by themselves: no barrier is needed.
///
/// begin() and end() enclose every call and are collective over the channel. The times of a round are combined over the
/// ranks by a nonblocking reduction, which starts when the round ends and is waited for some calls later.
class Cell {
 public:
  /// budget: pays for the learner's trials where they are limited. It and what the comparison refers to outlive the
  /// cell.
  Cell(tuning::Learner learner, const Channel& channel, int ranks, Timing timing,
       tuning::TrialBudget* budget = nullptr, Comparison comparison = {});
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  /// Waits for an agreement that is under way.
  ~Cell();

  /// The candidate to run in this call.
  std::size_t begin();
  /// Whether the next begin() may name one whose time matters.
  bool may_want_time() const { return learner_.trying() || (learner_.round_over() && !failed_); }
  /// Calls without begin() and end(): from now on they pass until there is something to do. is_native: the learner's
  /// choice is. After end().
  void let_pass(bool is_native) {
    deciding_ = deciding_trial();
    left_ = is_native || deciding_ != nullptr ? learner_.calls_until_decision() : 0;
  }
  /// Whether native runs in the next call and it passes: then it is counted. Alike on ranks that ask and on those that
  /// do not.
  bool pass() {
    if (left_ == 0 || (deciding_ != nullptr && !passes(*deciding_))) return false;
    --left_;
    ++passed_;
    return true;
  }
  /// Whether it matters how long the call takes that begin() named.
  bool wants_time() const { return learner_.trying(); }
  /// The call took so long on this rank.
  void end(double seconds);

  tuning::Learner& learner() { return learner_; }
  const tuning::Learner& learner() const { return learner_; }

 private:
  // Calls between the start of an agreement and its use: time for it to travel. None where times are exact: a
  // simulation's agreement is there at once, and each call takes real time.
  static constexpr std::uint64_t lag = 2;

  /// Of the round under way.
  Trials trials() const { return tuning::trials_of(learner_, timing_); }
  bool is_compared() const {
    return comparison_.trial != nullptr && !learner_.in_round() && learner_.settled() &&
           learner_.winner() != tuning::native;
  }
  /// Where native is kept, after trials that may have missed its tail, the best other candidate challenges it.
  bool is_challenged() const {
    return comparison_.trial != nullptr && !learner_.in_round() && learner_.settled() &&
           learner_.winner() == tuning::native && challenger_.has_value();
  }
  /// The trial that decides what the next calls run, and counts them; nullptr: the learner alone.
  tuning::ControlledTrial* deciding_trial() {
    return is_compared() ? comparison_.trial : is_challenged() ? &challenge_ : nullptr;
  }
  /// Does what compare() or challenge() would, where that is little.
  bool passes(tuning::ControlledTrial& deciding) {
    const bool is_challenge = &deciding == &challenge_;
    if ((is_challenge && comparison_.trial->is_under_way()) || !deciding.passes()) return false;
    if (deciding.wants_clock()) [[unlikely]]
      deciding.enter(comparison_.now());
    if (is_challenge && is_challenge_under_way_) comparison_.trial->round_called();
    deciding.pass(this, expected_ns_);
    return true;
  }
  void end_of_passing();
  std::size_t compare();
  std::size_t challenge();
  void end_challenge();
  void end_of_challenger();
  bool needs_agreement() const;
  void follow_rounds();
  void expect();
  void meet() const;
  void start_agreement();
  void add_evidence();
  void finish_agreement();
  void agree_on(tuning::ControlledTrial& trial, std::span<const long long> numbers,
                const tuning::ControlledTrial::Snapshot& taken);
  void agree_on_trials();
  void follow_verdict();
  void agree_on_times();

  tuning::Learner learner_;
  const Channel& channel_;
  int ranks_;
  Timing timing_;
  tuning::TrialBudget* budget_;
  Comparison comparison_;
  tuning::ControlledTrial challenge_{
      tuning::Arm::native};  // of the best other candidate, while native is the winner
  std::optional<std::size_t> challenger_;
  bool is_challenge_under_way_ = false;  // as the communicator's trial was told
  bool are_long_ = false;                // native's calls, as agreed
  bool was_in_round_ = false;
  // Calls that pass: more of them, those that the learner does not know of yet, and who must be asked.
  std::uint64_t left_ = 0, passed_ = 0;
  tuning::ControlledTrial* deciding_ = nullptr;
  long long expected_ns_ = tuning::ControlledTrial::unknown;  // between native and the winner, agreed
  // Nanoseconds of each candidate, affordable ones where trials are limited, and the trial's numbers: this rank's, and
  // all ranks'.
  std::vector<long long> mine_, all_;
  tuning::ControlledTrial::Snapshot taken_, taken_of_challenge_;  // of the trials, with mine_
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool failed_ = false;  // the library could not combine the times: no more learning, the winner so far stays
  std::uint64_t due_ = 0;
};

}  // namespace wherry::run
