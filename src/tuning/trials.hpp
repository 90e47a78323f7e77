// How trials are timed, and how the ranks' times of one become a single time.
//
// Pure: the runtime times calls and reduces; tests do the same with simulated ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/cost.hpp"
#include "schedule/segments/segment_strategy.hpp"
#include "topology/placement.hpp"
#include "tuning/learner.hpp"

namespace wherry::tuning {

/// Whether the ranks meet in a barrier before each call of a trial that counts. A strategy may leave the ranks in
/// disorder, and the next one pays for putting them in order; after a barrier each call begins as in programs that
/// compute between their collectives, with the network at rest.
///
/// After barriers the slowest rank's time counts: the first to leave the barrier sees all of the call. Else the mean of
/// the ranks' times does, which is what the program loses in total: the maximum would charge a strategy for ranks that
/// came late.
enum class Trials { as_they_come, after_barriers };

/// Whether the model expects every candidate but native to take much longer than a barrier.
bool are_long(std::span<const Candidate> candidates, const topology::Placement& placement,
              const model::Machine& machine);

/// How the rounds of a learner are timed: those of its training, re-evaluations and drift checks.
struct Timing {
  Trials in_training, in_reevaluation;
  friend bool operator==(const Timing&, const Timing&) = default;
};

/// Barriers where the calls are long, for there they cost little; and where one rank is the root, for there the mean
/// says little: ranks that leave early hide what those that stay must wait for. Re-evaluations between nodes have them
/// too: they are rare, so that barriers cost next to nothing, and what they decide stays. On one node a short call is
/// over before the last rank has left the barrier. operation: none of personalized all-to-alls.
Timing timing_for(std::optional<schedule::Operation> operation, std::span<const Candidate> candidates,
                  const topology::Placement& placement, const model::Machine& machine);

/// How the round under way is timed. Exact times are alike in training and re-evaluations.
inline Trials trials_of(const Learner& learner, const Timing& timing) {
  return learner.settled() && !learner.options().exact ? timing.in_reevaluation : timing.in_training;
}

/// Whether the ranks meet before the next call. Exact times, also those of which the slowest rank's counts, need no
/// barrier.
inline bool meet_before_call(const Learner& learner, const Timing& timing) {
  return learner.counts() && !learner.options().exact && trials_of(learner, timing) == Trials::after_barriers;
}

/// A learner's summary as whole nanoseconds: their sum is the same on every rank in whatever order a library adds.
std::vector<long long> to_agree(std::span<const double> summary);

/// The agreed times, from the ranks' numbers as combined: the maximum of each after barriers, else the sum.
std::vector<double> agreed_times(std::span<const long long> combined, Trials trials, int ranks);

/// What trials may cost travels beside them: whole nanoseconds, no more than a day's. The least of the ranks counts
/// where the maximum is taken of the times, else the mean.
long long allowance_to_agree(double affordable_s, Trials trials);
double agreed_allowance(long long combined, Trials trials, int ranks);

}  // namespace wherry::tuning
