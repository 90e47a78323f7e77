// What runs, compared with a challenger in the program's own course: by pairs of neighboring stretches of calls.
//
// Trials back to back after a barrier do not see what a call costs a program in the long run: where ranks share cores, a few calls in
// a hundred wait a thousand times as long. A pair is a stretch of calls of the winner and one of the challenger, as many, in an order
// that a hash of its number decides. The time of a stretch is that from the entry of its first call to the entry of the first one
// after it, the program's computing included: a clock is read at three calls of a pair, and nothing else is done.
//
// Pure and deterministic: no clock, no messages. docs/design/0003-learner.md has the reasons.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace wherry::tuning {

/// The most that challengers may have cost beyond what runs: a share of the run so far, and some time in any case.
inline constexpr double pairs_share = 0.01;
inline constexpr double pairs_least_s = 1e-3;

/// Seconds of a call, in the mean of a stretch.
struct Pair {
  double winner_s, challenger_s;
};

/// Of some pairs: D |D| / V, where D is the sum of the differences and V that of their squares; positive where the challenger is
/// faster. If both take the same the sign of each difference is a coin's toss, and whatever the tails, D^2 / V exceeds x with a
/// probability of at most 2 exp(-x / 2): de la Pena, A general class of exponential inequalities for martingales and ratios, Annals of
/// Probability 27 (1999). One disturbance alone never makes it more than 1.
double evidence(std::span<const Pair> pairs);

class PairedStretches {
 public:
  /// What the ranks agree on after a pair: seconds of a call of each stretch, and of all calls since the pair before.
  using Times = std::array<double, 3>;

  explicit PairedStretches(std::size_t candidates);

  /// From now on others are compared with `winner`. expected_s: of a call of each candidate.
  void compare_with(std::size_t winner, std::vector<double> expected_s);
  /// Nothing is compared until then, and all that is known is forgotten.
  void forget();
  /// Not before so many calls.
  void pause(std::uint64_t calls);

  /// Whether the entry of the next call has to be told: a pair begins there, or a stretch of it ends.
  bool wants_clock() const;
  /// The next call is entered at this time of this rank's clock, in seconds. Only if wants_clock().
  void enter(double now_s);
  /// From the first reading of the clock to the agreement.
  bool is_under_way() const { return length_ > 0; }
  /// The next call is of a stretch: arm() performs it.
  bool is_running() const { return length_ > 0 && position_ < 2 * length_; }
  std::size_t arm() const;
  /// So many calls were made: one, or at most quiet().
  void count(std::uint64_t calls);
  /// Of so many of the next calls nothing has to be told, and one candidate performs them all.
  std::uint64_t quiet() const;

  /// Both stretches have ended: the ranks must combine times().
  bool is_over() const { return is_over_; }
  /// This rank's.
  Times times() const;
  /// The mean of times() over the ranks, the same bits on all of them, before the same call.
  void agreed(const Times& times);

  /// Who was shown to be faster than the winner in the long run, by more than is not worth noticing.
  std::optional<std::size_t> better() const;
  /// Whether pairs speak against a candidate: whatever its trials say, it does not take over.
  bool is_slower(std::size_t candidate) const;
  /// In the last pair both took another time than ever before: the machine or the program has changed.
  bool have_both_changed() const { return have_both_changed_; }
  /// Of the winner with a candidate.
  std::vector<Pair> pairs(std::size_t candidate) const;
  /// What challengers have cost, as far as is known, and the most that they may have.
  double cost_s() const { return cost_of_native_s() + cost_of_others_s(); }
  double most_cost_s() const { return pairs_share * elapsed_s_ + pairs_least_s; }
  /// Of those that the half of the challenger of the next pair is spent on, or of the one under way.
  double cost_of_next_s() const { return challenger_ == 0 ? cost_of_native_s() : cost_of_others_s(); }
  /// What the next pair, or the one under way, is expected to cost.
  double expected_cost_s() const { return expected_cost_s(challenger_); }

 private:
  static constexpr std::uint64_t never_due = std::numeric_limits<std::uint64_t>::max();

  double cost_of_native_s() const { return std::max(0.0, excess_s_[0]); }
  double cost_of_others_s() const;
  double expected_cost_s(std::size_t candidate) const;
  bool is_undecided(std::size_t candidate) const;
  std::optional<std::size_t> question() const;
  bool is_soon_affordable(std::size_t candidate) const;
  std::uint64_t calls_until_affordable(std::size_t candidate) const;
  double winner_seconds() const;
  std::uint64_t calls_between() const { return began_at_ - since_.value(); }
  void remember(Pair pair);
  void account(Pair pair, double between_s);
  void plan();
  void plan_to_see_again();

  // Agreed: equal on all ranks.
  std::vector<std::vector<Pair>> with_native_;  // of each candidate as the challenger of native
  std::vector<std::vector<Pair>> with_winner_;  // of each with the winner, if neither is native
  std::vector<double> expected_s_;              // of a call
  std::vector<double> excess_s_;                // of all stretches of a candidate, beyond those beside them
  std::size_t winner_ = 0, challenger_ = 0;
  double elapsed_s_ = 0;
  double course_s_ = 0, course_calls_ = 0;  // of the winner, from pair to pair
  bool have_both_changed_ = false;

  // Functions of the number of calls: equal on all ranks.
  std::uint64_t calls_ = 0, begin_at_ = never_due, began_at_ = 0;
  std::optional<std::uint64_t> since_;       // calls when the last pair ended, or this winner began
  std::uint64_t length_ = 0, position_ = 0;  // of the pair under way; 0: none
  std::uint64_t number_ = 0, turn_ = 0;
  bool is_over_ = false;

  // This rank's own: leaves only through times().
  double since_s_ = 0;
  std::array<double, 3> entered_s_{};
};

}  // namespace wherry::tuning
