// One learner at work: the calls of one operation and size on one communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/channel.hpp"
#include "tuning/learner.hpp"
#include "tuning/trial_account.hpp"
#include "tuning/trials.hpp"

namespace wherry::run {

using tuning::Timing;
using tuning::Trials;

/// A learner and the agreement of its ranks, which travels while the program goes on.
///
/// Where times are exact, the program's calls begin together by themselves: no barrier is needed.
///
/// begin() and end() enclose every call and are collective over the channel. The times of a round are combined over the
/// ranks by a non-blocking reduction, which starts when the round ends and is waited for some calls later.
class Cell {
 public:
  /// account: pays for the trials, and outlives the cell; nullptr: no limit.
  Cell(tuning::Learner learner, const Channel& channel, int ranks, Timing timing,
       tuning::TrialAccount* account = nullptr);
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  /// Waits for an agreement that is under way.
  ~Cell();

  /// The candidate to run in this call.
  std::size_t begin();
  /// Whether the next begin() may name one whose time matters.
  bool may_want_time() const { return learner_.trying() || (learner_.round_over() && !failed_); }
  /// Whether it matters how long the call takes that begin() named.
  bool wants_time() const { return learner_.trying(); }
  /// The call took so long on this rank.
  void end(double seconds);

  tuning::Learner& learner() { return learner_; }
  const tuning::Learner& learner() const { return learner_; }

 private:
  // Calls between the start of an agreement and its use: time for it to travel. None where times are exact: a simulation's
  // agreement is there at once, and each call takes real time.
  static constexpr std::uint64_t lag = 2;

  /// Of the round under way.
  Trials trials() const { return tuning::trials_of(learner_, timing_); }
  void meet() const;
  void start_agreement();
  void finish_agreement();

  tuning::Learner learner_;
  const Channel& channel_;
  int ranks_;
  Timing timing_;
  tuning::TrialAccount* account_;
  std::vector<long long> mine_,
      all_;  // nanoseconds of each candidate, and affordable ones: this rank's, and all ranks'
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool failed_ = false;  // the library could not combine the times: no more learning, the winner so far stays
  std::uint64_t due_ = 0;
};

}  // namespace wherry::run
