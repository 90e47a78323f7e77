// A controlled trial inside a run: what a communicator's calls are worth to the program with Wherry's
// choices, against native.
//
// Pure and deterministic, as the learner is. Pairs of stretches of calls, one native and one with Wherry's
// choices in an order by a hash of the pair's number, are timed in the program's own course, from call to
// call, with all that the program does between. Which call runs natively depends on the number of calls and
// on agreed values only, alike on all ranks; each rank's own times leave through to_agree().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tuning/call_period.hpp"
#include "tuning/paired_times.hpp"
#include "tuning/trials.hpp"

namespace wherry::tuning {

enum class Arm { native, other };

/// What the ranks have agreed is better in the program's course.
enum class Verdict { open, native, other };

/// What a rank says of the trial so far.
struct TrialResult {
  Verdict verdict = Verdict::open;
  std::uint64_t pairs = 0;
  Gain gain;
  TimePair means{0, 0};
};

class ControlledTrial {
 public:
  /// Numbers that the ranks combine.
  static constexpr std::size_t agreed_numbers = 5;
  /// Which epoch's evidence a rank's numbers are, and what had been charged then: must be given to agreed()
  /// with them.
  struct Snapshot {
    std::uint64_t epoch = 0, pairs = 0;
    double charged_s = 0;
  };

  /// usual: what runs between pairs as long as nothing is known. The first rounds of learners, and of the program, are no
  /// measure of its course. Native: the other one challenges it, after its learner's rounds are over, and the first pairs
  /// come soon and close together, for native may be what costs the program most.
  explicit ControlledTrial(Arm usual = Arm::other)
      : usual_(usual), begin_at_(usual == Arm::native ? 8 : 64) {}

  /// Whether the entry of the next call must be told to enter(), before begin().
  bool wants_clock() const { return length_ > 0 && position_ == next_reading_; }
  void enter(double now_s);
  /// A call of this kind, for which Wherry has another choice than native: what it shall run. expected_ns:
  /// the difference between the two as the learner knows it, or unknown.
  static constexpr long long unknown = -1;
  Arm begin(CallPeriod::Kind kind, long long expected_ns);
  /// Whether native runs in the next call, between pairs or in one, and no pair begins or ends: then pass() does for it
  /// what begin() would, for other ranks may ask that.
  bool passes() const {
    if (length_ == 0) return (calls_ < begin_at_ || unaffordable_) && arm_between() == Arm::native;
    return position_ < 2 * (length_ + settling) && arm_of_stretch() == Arm::native;
  }
  void pass(CallPeriod::Kind kind, long long expected_ns) {
    count(kind, expected_ns);
    if (length_ > 0) ++position_;
  }

  /// Rounds of learners on the communicator begin only while no pair is under way, and pairs while there are
  /// no rounds, or none whose calls still come.
  bool is_under_way() const { return length_ > 0; }
  void round_begins();
  /// A call of a learner in a round.
  void round_called();
  void round_ends() { --rounds_; }

  /// This rank's evidence, and what its process can afford; negative: trials have cost more than they may.
  std::vector<long long> to_agree(double affordable_s, Trials trials) const;
  Snapshot snapshot() const { return {epoch_, epoch_pairs_, charged_s_}; }
  /// The ranks' numbers as combined: the maximum of each after barriers, else the sum. Before the same call
  /// on every rank.
  void agreed(std::span<const long long> combined, Trials trials, int ranks, const Snapshot& taken);

  Verdict verdict() const { return verdict_; }
  /// Pairs of which the ranks have not agreed on what they show.
  std::uint64_t unagreed_pairs() const { return epoch_pairs_ - agreed_pairs_; }
  /// What the stretches of the slower side cost, all that have begun, by the means known so far: seconds.
  double cost_s() const;
  /// What of that is to be spent now; may be negative, where it was overestimated. Alike on all ranks, after
  /// each agreed().
  double charge();
  TrialResult claim() const { return {verdict_, all_.count(), all_.gain(), all_.means()}; }
  /// Whether claim() has changed by a sixteenth of its pairs since this was true.
  bool drain_news();

 private:
  static constexpr std::size_t readings = 4;
  // Calls of a stretch before those that are timed: they meet the disorder that the other side left behind.
  static constexpr std::uint64_t settling = 1;

  void count(CallPeriod::Kind kind, long long expected_ns) {
    if (expected_ns == unknown) ++unexpected_;
    else expected_ns_ += expected_ns;
    kinds_.add(kind);
    ++calls_;
  }
  std::uint64_t random(std::uint64_t salt) const;
  void plan();
  double gap() const;
  bool may_begin() const;
  void plan_length();
  double expected_excess_s() const;
  void begin_pair();
  void end_pair();
  std::uint64_t call_of_reading(std::size_t reading) const;
  Arm arm_between() const;
  Arm arm_of_stretch() const {
    const bool is_second = position_ >= length_ + settling;
    return is_second == native_first_ ? Arm::other : Arm::native;
  }
  void decide(const Gain& gain, std::uint64_t pairs);

  // Agreed: equal on all ranks.
  Verdict verdict_ = Verdict::open;
  Gain gain_;             // of this epoch
  TimePair means_{0, 0};  // of all pairs; 0: not known
  double allowed_s_ = 0;  // for all pairs together
  double charged_s_ = 0;
  Arm usual_;
  std::uint64_t agreed_pairs_ = 0;  // of this epoch

  // Functions of the number of calls: equal on all ranks.
  CallPeriod kinds_;
  std::uint64_t calls_ = 0, begin_at_;
  long long expected_ns_ = 0;                // summed over calls
  std::uint64_t planned_length_ = 0;         // timed calls of each stretch of the next pair; 0: not known yet
  std::uint64_t length_ = 0, position_ = 0;  // the same of the pair under way, 0: none; its calls so far
  std::uint64_t next_reading_ = 0;           // calls of the pair
  bool native_first_ = false;                // in the pair under way
  std::size_t reading_ = 0;
  bool unaffordable_ = false;  // the next pair, until the ranks agree on more
  std::uint64_t number_ = 0, epoch_ = 0, epoch_pairs_ = 0;
  std::uint64_t stretch_calls_ = 0;  // of each side, in all pairs that have begun
  int rounds_ = 0;                   // under way
  std::uint64_t round_called_at_ = 0;
  std::uint64_t unexpected_ = 0;  // calls without an expectation

  // This rank's own: leaves only through to_agree().
  PairedTimes all_, epoch_times_;
  std::array<double, readings> entered_s_{};
  std::uint64_t told_ = 0;  // pairs
};

}  // namespace wherry::tuning
