#include "coll/state/cell.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/floating_point.hpp"

namespace wherry::run {

Cell::Cell(tuning::Learner learner, const Channel& channel, int ranks, Timing timing,
           tuning::TrialAccount* account, Comparison comparison)
    : learner_(std::move(learner)),
      channel_(channel),
      ranks_(ranks),
      timing_(timing),
      account_(account),
      comparison_(comparison) {
  expect();
}

Cell::~Cell() { channel_.wait(request_); }

std::size_t Cell::begin() {
  if (request_ != MPI_REQUEST_NULL && learner_.calls() >= due_) finish_agreement();
  follow_rounds();
  if (tuning::meet_before_call(learner_, timing_)) meet();
  return is_compared() ? compare() : learner_.pick();
}

/// Native or the winner, as the communicator's trial has it.
std::size_t Cell::compare() {
  tuning::ControlledTrial& trial = *comparison_.trial;
  const double now_s = trial.wants_clock() ? comparison_.now() : 0;
  return computed([&] {
    if (trial.wants_clock()) trial.enter(now_s);
    return trial.begin(this, expected_ns_) == tuning::Arm::native ? tuning::native : learner_.winner();
  });
}

/// Tells the trial of rounds: that one has begun, goes on or has ended.
void Cell::follow_rounds() {
  if (comparison_.trial == nullptr) return;
  const bool was_in_round = std::exchange(was_in_round_, learner_.in_round());
  if (!was_in_round_ && !was_in_round) return;
  computed([this, was_in_round] {
    if (!was_in_round_) comparison_.trial->round_ends();
    else if (was_in_round) comparison_.trial->round_called();
    else comparison_.trial->round_begins();
  });
  if (!was_in_round_) expect();
}

void Cell::expect() {
  if (comparison_.trial == nullptr || !learner_.settled()) return;
  computed([this] {
    const std::optional<double> native_s = learner_.seconds(tuning::native);
    const std::optional<double> winner_s = learner_.seconds(learner_.winner());
    expected_ns_ = native_s && winner_s ? std::llround(std::abs(*native_s - *winner_s) * 1e9)
                                        : tuning::ControlledTrial::unknown;
  });
}

void Cell::end(double seconds) {
  if (comparison_.trial != nullptr) {
    learner_.hold(comparison_.trial->is_under_way());
    learner_.rest(comparison_.trial->verdict() == tuning::Verdict::native);
  }
  computed([&] { learner_.took(seconds); });
  follow_rounds();
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
    if (comparison_.trial != nullptr) add_evidence();
  });
  all_.resize(mine_.size());
  due_ = learner_.calls() + (learner_.options().exact ? 0 : lag);
  const MPI_Op op = trials() == Trials::after_barriers ? MPI_MAX : MPI_SUM;
  failed_ = channel_.api().Iallreduce(mine_.data(), all_.data(), static_cast<int>(mine_.size()),
                                      MPI_LONG_LONG, op, channel_.comm(), &request_) != MPI_SUCCESS;
  if (failed_) request_ = MPI_REQUEST_NULL;  // after an error the handle is anything
}

void Cell::add_evidence() {
  taken_ = comparison_.trial->snapshot();
  for (const long long number : comparison_.trial->to_agree(comparison_.account->balance_s(), trials()))
    mine_.push_back(number);
}

void Cell::finish_agreement() {
  failed_ = channel_.wait(request_) != MPI_SUCCESS;
  request_ = MPI_REQUEST_NULL;
  if (failed_) return;
  computed([this] {
    // Both are of the round that the learner ends.
    if (comparison_.trial != nullptr) agree_on_trial();
    agree_on_times();
  });
}

void Cell::agree_on_trial() {
  tuning::ControlledTrial& trial = *comparison_.trial;
  const std::span<const long long> all = all_;
  trial.agreed(all.last(tuning::ControlledTrial::agreed_numbers), trials(), ranks_, taken_);
  comparison_.account->spend(trial.charge());
}

void Cell::agree_on_times() {
  const std::span<const long long> all = all_;
  const std::size_t candidates = learner_.candidates().size();
  const std::vector<double> times = tuning::agreed_times(all.first(candidates), trials(), ranks_);
  if (account_ == nullptr) return learner_.agreed(times);
  const double before_s = learner_.cost_s();
  learner_.agreed(times, tuning::agreed_allowance(all[candidates], trials(), ranks_));
  account_->spend(learner_.cost_s() - before_s);
}

}  // namespace wherry::run
