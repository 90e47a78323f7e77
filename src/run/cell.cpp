#include "run/cell.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace wherry::run {

Cell::Cell(choose::Learner learner, const Channel& channel, int ranks, Trials trials)
    : learner_(std::move(learner)),
      channel_(channel),
      ranks_(ranks),
      trials_(trials) {
  for (const choose::Candidate& candidate : learner_.candidates())
    strategies_.push_back(plan::find_strategy(candidate.name));
}

Cell::~Cell() { channel_.wait(request_); }

const plan::Strategy* Cell::begin() {
  if (request_ != MPI_REQUEST_NULL && learner_.calls() >= due_) finish_agreement();
  if (trials_ == Trials::between_barriers && learner_.round_begins()) meet();
  return strategies_[learner_.pick()];
}

void Cell::end(double seconds) {
  // The wait for the slowest rank belongs to the call; calls between rounds belong to no trial.
  const bool waits = trials_ == Trials::between_barriers && learner_.trying();
  learner_.took(waits ? seconds + meet() : seconds);
  if (learner_.round_over() && request_ == MPI_REQUEST_NULL && !failed_) start_agreement();
}

/// A barrier; returns how long it took.
double Cell::meet() const {
  const auto start = std::chrono::steady_clock::now();
  MPI_Request request = MPI_REQUEST_NULL;
  if (channel_.api().Ibarrier(channel_.comm(), &request) == MPI_SUCCESS) channel_.wait(request);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Nanoseconds as integers: their sum is the same on every rank in whatever order the library adds.
void Cell::start_agreement() {
  mine_.clear();
  for (const double s : learner_.summary())
    mine_.push_back(std::isfinite(s) ? std::llround(s * 1e9) : untried);
  all_.resize(mine_.size());
  due_ = learner_.calls() + lag;
  failed_ = channel_.api().Iallreduce(mine_.data(), all_.data(), static_cast<int>(mine_.size()),
                                      MPI_LONG_LONG, MPI_SUM, channel_.comm(), &request_) != MPI_SUCCESS;
  if (failed_) request_ = MPI_REQUEST_NULL;  // after an error the handle is anything
}

void Cell::finish_agreement() {
  failed_ = channel_.wait(request_) != MPI_SUCCESS;
  request_ = MPI_REQUEST_NULL;
  if (failed_) return;
  std::vector<double> mean;
  for (const long long sum : all_)
    mean.push_back(sum < 0 ? std::numeric_limits<double>::infinity()
                           : 1e-9 * static_cast<double>(sum) / ranks_);
  learner_.agreed(mean);
}

}  // namespace wherry::run
