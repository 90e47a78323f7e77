#include "coll/state/cell.hpp"

#include <span>
#include <utility>

#include "base/floating_point.hpp"

namespace wherry::run {

Cell::Cell(tuning::Learner learner, const Channel& channel, int ranks, Timing timing,
           tuning::TrialAccount* account)
    : learner_(std::move(learner)), channel_(channel), ranks_(ranks), timing_(timing), account_(account) {}

Cell::~Cell() { channel_.wait(request_); }

std::size_t Cell::begin() {
  if (request_ != MPI_REQUEST_NULL && learner_.calls() >= due_) finish_agreement();
  if (tuning::meet_before_call(learner_, timing_)) meet();
  return learner_.pick();
}

void Cell::end(double seconds) {
  computed([&] { learner_.took(seconds); });
  if (learner_.round_over() && request_ == MPI_REQUEST_NULL && !failed_) start_agreement();
}

/// A barrier. Its failure is no reason to fail the program's call.
void Cell::meet() const {
  MPI_Request request = MPI_REQUEST_NULL;
  if (channel_.api().Ibarrier(channel_.comm(), &request) == MPI_SUCCESS) channel_.wait(request);
}

void Cell::start_agreement() {
  computed([this] {
    mine_ = tuning::to_agree(learner_.summary());
    if (account_ != nullptr) mine_.push_back(tuning::allowance_to_agree(account_->left_s(), trials()));
  });
  all_.resize(mine_.size());
  due_ = learner_.calls() + (learner_.options().exact ? 0 : lag);
  const MPI_Op op = trials() == Trials::after_barriers ? MPI_MAX : MPI_SUM;
  failed_ = channel_.api().Iallreduce(mine_.data(), all_.data(), static_cast<int>(mine_.size()),
                                      MPI_LONG_LONG, op, channel_.comm(), &request_) != MPI_SUCCESS;
  if (failed_) request_ = MPI_REQUEST_NULL;  // after an error the handle is anything
}

void Cell::finish_agreement() {
  failed_ = channel_.wait(request_) != MPI_SUCCESS;
  request_ = MPI_REQUEST_NULL;
  if (failed_) return;
  computed([this] {
    const std::span<const long long> all = all_;
    const std::vector<double> times =
        tuning::agreed_times(all.first(learner_.candidates().size()), trials(), ranks_);
    if (account_ == nullptr) return learner_.agreed(times);
    const double before_s = learner_.cost_s();
    learner_.agreed(times, tuning::agreed_allowance(all.back(), trials(), ranks_));
    account_->spend(learner_.cost_s() - before_s);
  });
}

}  // namespace wherry::run
