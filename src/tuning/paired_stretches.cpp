#include "tuning/paired_stretches.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "tuning/trial_times.hpp"

namespace wherry::tuning {
namespace {

// A stretch is long enough that the agreement, some ten microseconds, costs little beside it.
constexpr double least_stretch_s = 200e-6;
constexpr double least_calls = 4, most_calls = 64;

// Calls between pairs once all is decided, in stretches: a challenger has 2% of the calls.
constexpr std::uint64_t rest = 48;

// Pairs that are remembered, and those after which a question that is not promising is left for later.
constexpr std::size_t memory = 64;
constexpr std::size_t enough = 32;

// Calls of the winner from which on earlier ones count half.
constexpr double course_memory = 4096;

// Evidence from which a challenger takes over, and from which it must not: native if in doubt.
constexpr double convincing = 6, convincing_for_native = 4, speaks_against = 3;

// Evidence from which on more is wanted soon.
constexpr double seems_faster = 2;

// What a challenger must save of the program's time: less is not worth a change.
constexpr double worth_having = 0.01;

// So many times as long, or as short, as in the mean of all pairs before.
constexpr double changed = 2;

constexpr std::size_t native = 0;

std::uint64_t calls_of_stretch(double call_s) {
  return static_cast<std::uint64_t>(std::clamp(least_stretch_s / call_s, least_calls, most_calls));
}

/// Random bits of the number, the same everywhere: the finalizer of MurmurHash3.
std::uint64_t hash(std::uint64_t number) {
  number ^= number >> 33;
  number *= 0xff51afd7ed558ccd;
  number ^= number >> 33;
  number *= 0xc4ceb9fe1a85ec53;
  return number ^ (number >> 33);
}

bool challenger_first(std::uint64_t pair) { return (hash(pair) & 1) != 0; }

Pair mean_of(std::span<const Pair> pairs) {
  Pair sum{0, 0};
  for (const Pair& p : pairs) sum.winner_s += p.winner_s, sum.challenger_s += p.challenger_s;
  const auto n = static_cast<double>(pairs.size());
  return {sum.winner_s / n, sum.challenger_s / n};
}

bool differs(double now_s, double usual_s) { return now_s > changed * usual_s || now_s * changed < usual_s; }

}  // namespace

double evidence(std::span<const Pair> pairs) {
  double sum = 0, squares = 0;
  for (const Pair& p : pairs) {
    const double saved = p.winner_s - p.challenger_s;
    sum += saved;
    squares += saved * saved;
  }
  return squares > 0 ? sum * std::abs(sum) / squares : 0;
}

PairedStretches::PairedStretches(std::size_t candidates)
    : with_native_(candidates), with_winner_(candidates), excess_s_(candidates) {}

void PairedStretches::compare_with(std::size_t winner, std::vector<double> expected_s) {
  for (std::vector<Pair>& pairs : with_winner_) pairs.clear();
  course_s_ = course_calls_ = 0;
  winner_ = winner;
  expected_s_ = std::move(expected_s);
  since_.reset();
  plan();
}

void PairedStretches::forget() {
  for (std::vector<Pair>& pairs : with_native_) pairs.clear();
  begin_at_ = never_due;
  length_ = position_ = 0;
}

void PairedStretches::pause(std::uint64_t calls) {
  if (begin_at_ != never_due) begin_at_ = std::max(begin_at_, calls_ + calls);
}

// ---- The pair under way ----

bool PairedStretches::wants_clock() const {
  if (is_over_ || begin_at_ == never_due) return false;
  return length_ == 0 ? !since_ || calls_ >= begin_at_ : position_ % length_ == 0;
}

void PairedStretches::enter(double now_s) {
  ensure(wants_clock(), "a clock was read within a stretch");
  if (!since_) {
    since_ = calls_;
    since_s_ = now_s;
  }
  if (length_ == 0 && calls_ < begin_at_) return;
  if (length_ == 0) {
    length_ = calls_of_stretch(winner_seconds());
    began_at_ = calls_;
  }
  const std::uint64_t boundary = position_ / length_;
  entered_s_[boundary] = now_s;
  is_over_ = boundary == 2;
}

std::size_t PairedStretches::arm() const {
  const bool is_second = position_ >= length_;
  return challenger_first(number_) != is_second ? challenger_ : winner_;
}

void PairedStretches::count(std::uint64_t calls) {
  calls_ += calls;
  if (is_running()) position_ += calls;
}

std::uint64_t PairedStretches::quiet() const {
  if (is_over_ || wants_clock()) return 0;
  if (length_ > 0) return length_ - position_ % length_;
  return begin_at_ == never_due ? never_due : begin_at_ - calls_;
}

PairedStretches::Times PairedStretches::times() const {
  const auto calls = static_cast<double>(length_);
  const double first = (entered_s_[1] - entered_s_[0]) / calls,
               second = (entered_s_[2] - entered_s_[1]) / calls;
  const auto between = static_cast<double>(std::max<std::uint64_t>(calls_between(), 1));
  const double before = (entered_s_[0] - since_s_) / between;
  return challenger_first(number_) ? Times{second, first, before} : Times{first, second, before};
}

void PairedStretches::agreed(const Times& times) {
  ensure(is_over_, "agreed() ends a pair whose stretches are over");
  const Pair pair = {sane(times[0]), sane(times[1])};
  const std::vector<Pair> before = pairs(challenger_);
  const Pair usual = before.empty() ? pair : mean_of(before);
  have_both_changed_ =
      differs(pair.winner_s, usual.winner_s) && differs(pair.challenger_s, usual.challenger_s);
  remember(pair);
  account(pair, times[2]);
  since_ = began_at_ + 2 * length_;
  since_s_ = entered_s_[2];
  is_over_ = false;
  length_ = position_ = 0;
  ++number_;
  plan();
}

// ---- What is known ----

std::vector<Pair> PairedStretches::pairs(std::size_t candidate) const {
  if (candidate == winner_) return {};
  if (winner_ == native) return with_native_[candidate];
  if (candidate != native) return with_winner_[candidate];
  std::vector<Pair> turned = with_native_[winner_];
  for (Pair& p : turned) std::swap(p.winner_s, p.challenger_s);
  return turned;
}

void PairedStretches::remember(Pair pair) {
  std::vector<Pair>& pairs = winner_ == native       ? with_native_[challenger_]
                             : challenger_ == native ? with_native_[winner_]
                                                     : with_winner_[challenger_];
  if (winner_ != native && challenger_ == native) std::swap(pair.winner_s, pair.challenger_s);
  if (pairs.size() == memory) pairs.erase(pairs.begin());
  pairs.push_back(pair);
}

void PairedStretches::account(Pair pair, double between_s) {
  const auto stretch = static_cast<double>(length_), between = static_cast<double>(calls_between());
  const double course_s = stretch * pair.winner_s + between * std::max(0.0, between_s);
  elapsed_s_ += course_s + stretch * pair.challenger_s;
  excess_s_[challenger_] += stretch * (pair.challenger_s - pair.winner_s);
  const double keeps = course_calls_ > course_memory ? 0.5 : 1;
  course_s_ = keeps * course_s_ + course_s;
  course_calls_ = keeps * course_calls_ + stretch + between;
}

/// Of a call in the long run; before that is known, as expected.
double PairedStretches::winner_seconds() const {
  return course_calls_ > 0 ? sane(course_s_ / course_calls_) : expected_s_[winner_];
}

double PairedStretches::cost_of_others_s() const {
  double sum = 0;
  for (std::size_t i = 1; i < excess_s_.size(); ++i) sum += std::max(0.0, excess_s_[i]);
  return sum;
}

double PairedStretches::expected_cost_s(std::size_t candidate) const {
  const std::vector<Pair> known = pairs(candidate);
  double more_s = expected_s_[candidate] - expected_s_[winner_];
  if (!known.empty()) {
    const Pair mean = mean_of(known);
    more_s = mean.challenger_s - (course_calls_ > 0 ? winner_seconds() : mean.winner_s);
  }
  return std::max(0.0, more_s) * static_cast<double>(calls_of_stretch(winner_seconds()));
}

/// If the winner goes on taking what it takes. What is expected to take no longer costs nothing. Native has one half of what may be
/// spent, for whoever runs instead of it must be compared with it, and the others have the other.
std::uint64_t PairedStretches::calls_until_affordable(std::size_t candidate) const {
  constexpr double for_ever = 1e15;
  const double expected_s = expected_cost_s(candidate);
  const double spent_s = candidate == native ? cost_of_native_s() : cost_of_others_s();
  const double missing_s = spent_s + expected_s - most_cost_s() / 2;
  if (expected_s <= 0 || missing_s <= 0) return 0;
  return static_cast<std::uint64_t>(
      std::min(for_ever, std::ceil(missing_s / (pairs_share / 2 * winner_seconds()))));
}

std::optional<std::size_t> PairedStretches::better() const {
  for (std::size_t i = 0; i < with_native_.size(); ++i) {
    const std::vector<Pair> known = pairs(i);
    if (known.empty()) continue;
    const Pair mean = mean_of(known);
    const bool is_worth_it = mean.challenger_s <= (1 - worth_having) * mean.winner_s;
    if (is_worth_it && evidence(known) >= (i == native ? convincing_for_native : convincing)) return i;
  }
  return std::nullopt;
}

/// Slower than native, or than what runs.
bool PairedStretches::is_slower(std::size_t candidate) const {
  return evidence(with_native_[candidate]) <= -speaks_against ||
         evidence(pairs(candidate)) <= -speaks_against;
}

/// Whether more pairs are wanted soon. Not of a challenger that is slower, also than the winner in the long run, whose tail its few
/// stretches may have missed; and more of one that seems to be faster.
bool PairedStretches::is_undecided(std::size_t candidate) const {
  const std::vector<Pair> known = pairs(candidate);
  const double seen = evidence(known);
  if (seen <= -convincing && winner_seconds() < mean_of(known).challenger_s) return false;
  return known.size() < enough || (known.size() < memory && seen > 0);
}

/// Is native faster than what runs, or the most promising of the others than native? Then: is one of those that seem to be?
std::optional<std::size_t> PairedStretches::question() const {
  std::size_t asked = native;
  if (winner_ == native)
    for (std::size_t i = 1; i < with_native_.size(); ++i)
      if (asked == native || expected_s_[i] < expected_s_[asked]) asked = i;
  if (is_undecided(asked) && is_soon_affordable(asked)) return asked;
  for (std::size_t i = 1; i < with_native_.size(); ++i)
    if (evidence(pairs(i)) >= seems_faster && is_undecided(i) && is_soon_affordable(i)) return i;
  return std::nullopt;
}

bool PairedStretches::is_soon_affordable(std::size_t candidate) const {
  return calls_until_affordable(candidate) <= rest * calls_of_stretch(winner_seconds());
}

void PairedStretches::plan() {
  const std::optional<std::size_t> asked = question();
  if (!asked) return plan_to_see_again();
  challenger_ = *asked;
  const std::uint64_t gap = hash(number_) % calls_of_stretch(winner_seconds());
  begin_at_ = calls_ + std::max(gap, calls_until_affordable(*asked));
}

/// The others in turn, now and then; those that are too dear when they can be afforded.
void PairedStretches::plan_to_see_again() {
  const std::uint64_t gap = (rest / 2 + hash(number_) % rest) * calls_of_stretch(winner_seconds());
  begin_at_ = never_due;
  for (std::size_t step = 0; step < with_native_.size(); ++step) {
    const std::size_t candidate = (turn_ + step) % with_native_.size();
    if (candidate == winner_) continue;
    const std::uint64_t at = calls_ + std::max(gap, calls_until_affordable(candidate));
    if (at >= begin_at_) continue;
    begin_at_ = at;
    challenger_ = candidate;
  }
  turn_ = challenger_ + 1;
}

}  // namespace wherry::tuning
