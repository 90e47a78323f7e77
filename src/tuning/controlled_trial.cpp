#include "tuning/controlled_trial.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/splitmix.hpp"

namespace wherry::tuning {
namespace {

// A stretch has at least so many timed calls, whole periods of the program's calls where they repeat, and
// this where not.
constexpr std::uint64_t least_length = 4;
constexpr std::uint64_t length_without_period = 32;

// Calls between pairs, in lengths of a pair. Few pairs while little is known to be won: half of the calls at
// first, less with each pair that has not decided; then 2% of the calls for the other side.
constexpr double least_gap = 0.5, most_gap = 24;
constexpr double dense_pairs = 64;

// The same for a challenger: none at first, so that what it may save is known soon; more until the ranks have agreed on
// that, and while it seems to be the faster one; most once it has lost, for nothing of what runs is questioned then.
constexpr double leading_gap = 2, lost_gap = 192;

// Agreed pairs from which on the means count instead of what the learners expect.
constexpr std::uint64_t trusted_pairs = 4;

// Compared calls after which a round is not waited for whose own calls no longer come.
constexpr std::uint64_t idle_round = 256;

constexpr double ppm = 1e6;
constexpr double widest = 1;  // share; an interval that is not known is sent as wider than any

long long millionths(double share) { return std::llround(std::clamp(share, -2 * widest, 2 * widest) * ppm); }

long long whole_nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

std::uint64_t ControlledTrial::random(std::uint64_t salt) const { return splitmix(2 * number_ + salt); }

// ---- Calls ----

Arm ControlledTrial::begin(CallPeriod::Kind kind, long long expected_ns) {
  const bool no_rounds = rounds_ == 0 || calls_ - round_called_at_ >= idle_round;
  if (length_ == 0 && calls_ >= begin_at_ && no_rounds && !unaffordable_) {
    if (planned_length_ == 0) plan_length();
    unaffordable_ = !may_begin();
    if (!unaffordable_) begin_pair();
  }
  count(kind, expected_ns);
  if (length_ == 0) return arm_between();
  const Arm arm = arm_of_stretch();
  ++position_;
  return arm;
}

/// What seems faster so far. The other one takes over before the verdict where it seems so by more than a quarter of the
/// interval's width.
Arm ControlledTrial::arm_between() const {
  if (verdict_ != Verdict::open) return verdict_ == Verdict::native ? Arm::native : Arm::other;
  const bool is_slower = gain_.share < 0 && gain_.high < -gain_.share;
  const bool is_faster = gain_.share > 0 && gain_.low > -gain_.share;
  return is_slower ? Arm::native : is_faster ? Arm::other : usual_;
}

std::uint64_t ControlledTrial::call_of_reading(std::size_t reading) const {
  const std::uint64_t stretch = settling + length_;
  return reading / 2 * stretch + (reading % 2 == 0 ? settling : stretch);
}

void ControlledTrial::enter(double now_s) {
  entered_s_[reading_++] = now_s;
  if (reading_ == readings) return end_pair();
  next_reading_ = call_of_reading(reading_);
}

void ControlledTrial::round_begins() {
  ++rounds_;
  round_called();
}

void ControlledTrial::round_called() {
  round_called_at_ = calls_;
  if (length_ == 0) return;
  length_ = 0;  // a pair with a learner's trials in it shows nothing
  plan();
}

// ---- Pairs ----

void ControlledTrial::plan_length() {
  const std::uint64_t period = kinds_.find();
  planned_length_ = period == 0 ? length_without_period : (least_length + period - 1) / period * period;
}

void ControlledTrial::begin_pair() {
  length_ = std::exchange(planned_length_, 0);
  stretch_calls_ += length_ + settling;
  position_ = 0;
  reading_ = 0;
  next_reading_ = call_of_reading(0);
  native_first_ = random(0) % 2 == 0;
}

void ControlledTrial::end_pair() {
  const double calls = static_cast<double>(length_);
  const double first_s = (entered_s_[1] - entered_s_[0]) / calls;
  const double second_s = (entered_s_[3] - entered_s_[2]) / calls;
  const TimePair pair = native_first_ ? TimePair{first_s, second_s} : TimePair{second_s, first_s};
  all_.add(pair);
  epoch_times_.add(pair);
  ++epoch_pairs_;
  plan();
  length_ = 0;
}

/// When the next pair may begin. Not after the same number of calls each time: the program may have a period
/// of its own.
void ControlledTrial::plan() {
  ++number_;
  const std::uint64_t pair = 2 * (std::max(length_, least_length) + settling);
  begin_at_ = calls_ + static_cast<std::uint64_t>(gap() * static_cast<double>(pair)) + random(1) % pair;
}

/// Calls between pairs, in lengths of a pair.
double ControlledTrial::gap() const {
  const bool is_challenge = usual_ == Arm::native;
  if (verdict_ != Verdict::open) return is_challenge && verdict_ == Verdict::native ? lost_gap : most_gap;
  if (is_challenge && epoch_pairs_ < trusted_pairs) return 0;
  const bool may_lead = is_challenge && (agreed_pairs_ < trusted_pairs || arm_between() == Arm::other);
  const double least = may_lead ? leading_gap : least_gap;
  return std::clamp(static_cast<double>(epoch_pairs_) / dense_pairs, least, most_gap);
}

/// Of a call of the slower side; where native is usual, of the other one, for native would run anyway.
double ControlledTrial::expected_excess_s() const {
  if (means_.native_s <= 0)
    return static_cast<double>(std::abs(expected_ns_)) * 1e-9 /
           static_cast<double>(std::max<std::uint64_t>(calls_ - unexpected_, 1));
  const double excess_s = means_.other_s - means_.native_s;
  return usual_ == Arm::native ? std::max(0.0, excess_s) : std::abs(excess_s);
}

/// Not before the ranks have agreed on what it may cost, nor as long as nobody knows what it would.
bool ControlledTrial::may_begin() const {
  if (allowed_s_ <= 0 || (means_.native_s <= 0 && 2 * unexpected_ > calls_)) return false;
  const std::uint64_t with_next = stretch_calls_ + planned_length_ + settling;
  return static_cast<double>(with_next) * expected_excess_s() <= allowed_s_;
}

double ControlledTrial::cost_s() const { return static_cast<double>(stretch_calls_) * expected_excess_s(); }

double ControlledTrial::charge() {
  const double before_s = std::exchange(charged_s_, cost_s());
  return charged_s_ - before_s;
}

bool ControlledTrial::drain_news() {
  constexpr std::uint64_t part = 16;
  if (all_.count() <= told_ + told_ / part) return false;
  told_ = all_.count();
  return true;
}

// ---- Agreement ----

// Both ends of the interval are sent as bounds from above, so that the maximum of the ranks' is the widest.
std::vector<long long> ControlledTrial::to_agree(double affordable_s, Trials trials) const {
  const Gain gain = usual_ == Arm::native ? epoch_times_.provisional_gain() : epoch_times_.gain();
  const TimePair means = all_.count() < trusted_pairs ? TimePair{0, 0} : all_.means();
  return {millionths(-gain.low), millionths(gain.high), whole_nanoseconds(means.native_s),
          whole_nanoseconds(means.other_s), allowance_to_agree(affordable_s, trials)};
}

void ControlledTrial::agreed(std::span<const long long> combined, Trials trials, int ranks,
                             const Snapshot& taken) {
  const double divisor = trials == Trials::after_barriers ? 1 : ranks;
  const auto mean = [&](std::size_t i) { return static_cast<double>(combined[i]) / divisor; };
  unaffordable_ = false;
  allowed_s_ = taken.charged_s + agreed_allowance(combined[4], trials, ranks);
  means_ = {mean(2) * 1e-9, mean(3) * 1e-9};
  if (taken.epoch != epoch_) return;
  agreed_pairs_ = taken.pairs;
  const double low = -mean(0) / ppm, high = mean(1) / ppm;
  decide({.share = (low + high) / 2, .low = low, .high = high}, taken.pairs);
}

/// A verdict begins a new epoch: it is questioned by later pairs alone, for things may change.
void ControlledTrial::decide(const Gain& gain, std::uint64_t pairs) {
  gain_ = gain;
  if (pairs < PairedTimes::least_for_verdict || (gain.low <= 0 && gain.high >= 0)) return;
  verdict_ = gain.low > 0 ? Verdict::other : Verdict::native;
  gain_ = {};
  epoch_times_ = {};
  epoch_pairs_ = agreed_pairs_ = 0;
  ++epoch_;
}

}  // namespace wherry::tuning
