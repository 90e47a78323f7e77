#include "run/cell.hpp"

namespace wherry::run {

Cell::Cell(choose::Learner learner, const Channel& channel)
    : learner_(std::move(learner)), channel_(channel) {
  for (const choose::Candidate& candidate : learner_.candidates())
    strategies_.push_back(plan::find_strategy(candidate.name));
}

Cell::~Cell() {
  if (request_ != MPI_REQUEST_NULL) channel_.wait_all({&request_, 1});
}

const plan::Strategy* Cell::begin() {
  if (request_ != MPI_REQUEST_NULL && learner_.calls() >= due_) {
    channel_.wait_all({&request_, 1});
    learner_.agreed(worst_);
  }
  return strategies_[learner_.pick()];
}

void Cell::end(double seconds) {
  learner_.took(seconds);
  if (!learner_.round_over() || request_ != MPI_REQUEST_NULL) return;
  local_ = learner_.summary();
  worst_.resize(local_.size());
  due_ = learner_.calls() + lag;
  channel_.api().Iallreduce(local_.data(), worst_.data(), static_cast<int>(local_.size()), MPI_DOUBLE,
                            MPI_MAX, channel_.comm(), &request_);
}

}  // namespace wherry::run
