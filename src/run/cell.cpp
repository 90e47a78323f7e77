#include "run/cell.hpp"

#include <cmath>
#include <limits>

namespace wherry::run {

Cell::Cell(choose::Learner learner, const Channel& channel, int ranks)
    : learner_(std::move(learner)), channel_(channel), ranks_(ranks) {
  for (const choose::Candidate& candidate : learner_.candidates())
    strategies_.push_back(plan::find_strategy(candidate.name));
}

Cell::~Cell() {
  if (request_ != MPI_REQUEST_NULL) channel_.wait_all({&request_, 1});
}

const plan::Strategy* Cell::begin() {
  if (request_ != MPI_REQUEST_NULL && learner_.calls() >= due_) finish_agreement();
  return strategies_[learner_.pick()];
}

void Cell::end(double seconds) {
  learner_.took(seconds);
  if (learner_.round_over() && request_ == MPI_REQUEST_NULL) start_agreement();
}

// Nanoseconds as integers: their sum is the same on every rank in whatever order the library adds.
void Cell::start_agreement() {
  mine_.clear();
  for (const double s : learner_.summary())
    mine_.push_back(std::isfinite(s) ? std::llround(s * 1e9) : untried);
  all_.resize(mine_.size());
  due_ = learner_.calls() + lag;
  channel_.api().Iallreduce(mine_.data(), all_.data(), static_cast<int>(mine_.size()), MPI_LONG_LONG, MPI_SUM,
                            channel_.comm(), &request_);
}

void Cell::finish_agreement() {
  channel_.wait_all({&request_, 1});
  std::vector<double> mean;
  for (const long long sum : all_)
    mean.push_back(sum < 0 ? std::numeric_limits<double>::infinity()
                           : 1e-9 * static_cast<double>(sum) / ranks_);
  learner_.agreed(mean);
}

}  // namespace wherry::run
