#include "coll/state/cell.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/floating_point.hpp"

namespace wherry::run {

namespace {

// Beside so long calls, an agreement for each four pairs of stretches costs less than 1%.
constexpr double long_call_s = 30e-6;

// That share what trials may cost, as far as one of them knows.
constexpr double challenges = 8;

}  // namespace

Cell::Cell(tuning::Learner learner, const Channel& channel, int ranks, Timing timing,
           tuning::TrialBudget* budget, Comparison comparison)
    : learner_(std::move(learner)),
      channel_(channel),
      ranks_(ranks),
      timing_(timing),
      budget_(budget),
      comparison_(comparison) {
  expect();
}

Cell::~Cell() { channel_.wait(request_); }

std::size_t Cell::begin() {
  end_of_passing();
  if (request_ != MPI_REQUEST_NULL && learner_.calls() >= due_) finish_agreement();
  follow_rounds();
  if (tuning::meet_before_call(learner_, timing_)) meet();
  if (is_compared()) return compare();
  return is_challenged() ? challenge() : learner_.pick();
}

/// Tells the learner of the calls that passed.
void Cell::end_of_passing() {
  learner_.skip(std::exchange(passed_, 0));
  left_ = 0;
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

/// Native or the challenger. To the communicator's trial a pair is what a learner's round is: both at once would show
/// nothing.
std::size_t Cell::challenge() {
  tuning::ControlledTrial& trial = *comparison_.trial;
  if (!is_challenge_under_way_ && trial.is_under_way()) return tuning::native;
  const double now_s = challenge_.wants_clock() ? comparison_.now() : 0;
  return computed([&] {
    if (challenge_.wants_clock()) challenge_.enter(now_s);
    const tuning::Arm arm = challenge_.begin(this, expected_ns_);
    const bool was_under_way = std::exchange(is_challenge_under_way_, challenge_.is_under_way());
    if (was_under_way && is_challenge_under_way_) trial.round_called();
    else if (is_challenge_under_way_) trial.round_begins();
    else if (was_under_way) trial.round_ends();
    return arm == tuning::Arm::native ? tuning::native : *challenger_;
  });
}

/// A round has begun, or native is no longer the winner.
void Cell::end_challenge() {
  if (challenge_.is_under_way()) challenge_.round_called();
  if (std::exchange(is_challenge_under_way_, false)) comparison_.trial->round_ends();
}

/// Whether pairs of calls so long that an agreement costs little beside them wait for one.
bool Cell::needs_agreement() const {
  constexpr std::uint64_t many = 4;
  return are_long_ && is_challenged() && !is_challenge_under_way_ &&
         challenge_.verdict() == tuning::Verdict::open && challenge_.unagreed_pairs() >= many;
}

/// Tells the trial of rounds: that one has begun, goes on or has ended.
void Cell::follow_rounds() {
  if (comparison_.trial == nullptr) return;
  const bool was_in_round = std::exchange(was_in_round_, learner_.in_round());
  if (!was_in_round_ && !was_in_round) return;
  if (was_in_round_) end_challenge();
  computed([this, was_in_round] {
    if (!was_in_round_) comparison_.trial->round_ends();
    else if (was_in_round) comparison_.trial->round_called();
    else comparison_.trial->round_begins();
  });
  if (!was_in_round_) expect();
}

/// Who is compared with native, and what the two are expected to differ by.
void Cell::expect() {
  if (comparison_.trial == nullptr || !learner_.settled()) return;
  computed([this] {
    if (!challenger_ && learner_.winner() == tuning::native) challenger_ = learner_.best_other();
    const bool is_winner = learner_.winner() != tuning::native;
    const std::size_t other = is_winner ? learner_.winner() : challenger_.value_or(0);
    const std::optional<double> native_s = learner_.seconds(tuning::native),
                                other_s = learner_.seconds(other);
    are_long_ = native_s.value_or(0) >= long_call_s;
    const auto expected_s = [&] { return is_winner ? *other_s : learner_.expected(other); };
    expected_ns_ = native_s && other_s ? std::llround(std::abs(*native_s - expected_s()) * 1e9)
                                       : tuning::ControlledTrial::unknown;
  });
}

void Cell::end(double seconds) {
  if (comparison_.trial != nullptr) {
    learner_.hold(comparison_.trial->is_under_way() || is_challenge_under_way_);
    learner_.rest(comparison_.trial->verdict() == tuning::Verdict::native);
  }
  computed([&] {
    if (comparison_.trial != nullptr && needs_agreement()) learner_.hasten();
    learner_.took(seconds);
  });
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
    if (budget_ != nullptr) mine_.push_back(tuning::allowance_to_agree(budget_->left_s(), trials()));
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
  taken_of_challenge_ = challenge_.snapshot();
  const double balance_s = comparison_.budget->balance_s();
  const auto add = [this](const std::vector<long long>& numbers) {
    mine_.insert(mine_.end(), numbers.begin(), numbers.end());
  };
  add(comparison_.trial->to_agree(balance_s, trials()));
  add(challenge_.to_agree(std::min(balance_s, balance_s / challenges), trials()));
}

void Cell::finish_agreement() {
  failed_ = channel_.wait(request_) != MPI_SUCCESS;
  request_ = MPI_REQUEST_NULL;
  if (failed_) return;
  computed([this] {
    // Both are of the round that the learner ends.
    if (comparison_.trial != nullptr) agree_on_trials();
    agree_on_times();
    if (comparison_.trial != nullptr) follow_verdict();
  });
}

void Cell::agree_on_trials() {
  constexpr std::size_t each = tuning::ControlledTrial::agreed_numbers;
  const std::span<const long long> both = std::span<const long long>(all_).last(2 * each);
  agree_on(*comparison_.trial, both.first(each), taken_);
  agree_on(challenge_, both.last(each), taken_of_challenge_);
}

void Cell::agree_on(tuning::ControlledTrial& trial, std::span<const long long> numbers,
                    const tuning::ControlledTrial::Snapshot& taken) {
  trial.agreed(numbers, trials(), ranks_, taken);
  comparison_.budget->spend(trial.charge());
}

/// A challenge is about one challenger, and over when it has won, another than native has, or all is learned anew.
void Cell::follow_verdict() {
  if (!challenger_) return;
  if (!learner_.settled()) return end_of_challenger();
  const bool has_won = challenge_.verdict() == tuning::Verdict::other;
  if (has_won && learner_.winner() == tuning::native) learner_.promote(*challenger_);
  if (learner_.winner() != tuning::native) end_of_challenger();
}

void Cell::end_of_challenger() {
  end_challenge();
  challenge_ = tuning::ControlledTrial(tuning::Arm::native);
  challenger_.reset();
}

void Cell::agree_on_times() {
  const std::span<const long long> all = all_;
  const std::size_t candidates = learner_.candidates().size();
  const std::vector<double> times = tuning::agreed_times(all.first(candidates), trials(), ranks_);
  if (budget_ == nullptr) return learner_.agreed(times);
  const double before_s = learner_.cost_s();
  learner_.agreed(times, tuning::agreed_allowance(all[candidates], trials(), ranks_));
  budget_->spend(learner_.cost_s() - before_s);
}

}  // namespace wherry::run
