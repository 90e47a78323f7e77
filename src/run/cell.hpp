// One learner at work: the calls of one operation and size on one communicator.
#pragma once

#include <mpi.h>

#include <vector>

#include "choose/learner.hpp"
#include "plan/strategy.hpp"
#include "run/channel.hpp"

namespace wherry::run {

/// A learner and the agreement of its ranks, which travels while the program goes on.
///
/// begin() and end() enclose every call and are collective over the channel; a round's times are combined by a
/// non-blocking reduction that starts when the round ends and is waited for `lag` calls later.
class Cell {
 public:
  /// Candidates name strategies, except the first, which is native.
  Cell(choose::Learner learner, const Channel& channel);
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  /// Waits for an agreement that is under way.
  ~Cell();

  /// The strategy for this call; nullptr is the native collective.
  const plan::Strategy* begin();
  /// The call took so long on this rank.
  void end(double seconds);

  choose::Learner& learner() { return learner_; }
  const choose::Learner& learner() const { return learner_; }

 private:
  // Calls between the start of an agreement and its use: time for it to travel.
  static constexpr std::uint64_t lag = 2;

  choose::Learner learner_;
  const Channel& channel_;
  std::vector<const plan::Strategy*> strategies_;
  std::vector<double> local_, worst_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::uint64_t due_ = 0;
};

}  // namespace wherry::run
