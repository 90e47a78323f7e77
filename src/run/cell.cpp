#include "run/cell.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace wherry::run {

Cell::Cell(choose::Learner learner, const Channel& channel, int ranks, Trials trials)
    : learner_(std::move(learner)), channel_(channel), ranks_(ranks), trials_(trials) {}

Cell::~Cell() { channel_.wait(request_); }

std::size_t Cell::begin() {
  if (request_ != MPI_REQUEST_NULL && learner_.calls() >= due_) finish_agreement();
  if (trials_ == Trials::after_barriers && learner_.counts()) meet();
  return learner_.pick();
}

void Cell::end(double seconds) {
  learner_.took(seconds);
  if (learner_.round_over() && request_ == MPI_REQUEST_NULL && !failed_) start_agreement();
}

/// A barrier. Its failure is no reason to fail the program's call.
void Cell::meet() const {
  MPI_Request request = MPI_REQUEST_NULL;
  if (channel_.api().Ibarrier(channel_.comm(), &request) == MPI_SUCCESS) channel_.wait(request);
}

// Nanoseconds as integers: their sum is the same on every rank in whatever order the library adds.
void Cell::start_agreement() {
  mine_.clear();
  for (const double s : learner_.summary())
    mine_.push_back(std::isfinite(s) ? std::llround(s * 1e9) : untried);
  all_.resize(mine_.size());
  due_ = learner_.calls() + lag;
  const MPI_Op op = trials_ == Trials::after_barriers ? MPI_MAX : MPI_SUM;
  failed_ = channel_.api().Iallreduce(mine_.data(), all_.data(), static_cast<int>(mine_.size()),
                                      MPI_LONG_LONG, op, channel_.comm(), &request_) != MPI_SUCCESS;
  if (failed_) request_ = MPI_REQUEST_NULL;  // after an error the handle is anything
}

void Cell::finish_agreement() {
  failed_ = channel_.wait(request_) != MPI_SUCCESS;
  request_ = MPI_REQUEST_NULL;
  if (failed_) return;
  const double each_s = 1e-9 / (trials_ == Trials::after_barriers ? 1 : ranks_);
  std::vector<double> times;
  for (const long long time : all_)
    times.push_back(time < 0 ? std::numeric_limits<double>::infinity() : each_s * static_cast<double>(time));
  learner_.agreed(times);
}

}  // namespace wherry::run
