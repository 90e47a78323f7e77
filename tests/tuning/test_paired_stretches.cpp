// Stretches of the program's own course: how they are timed, what they show, and what they may cost. Deterministic: fixed seeds.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <set>

#include "base/error.hpp"
#include "tuning/simulated.hpp"

using namespace wherry;
using namespace wherry::tuning;
using namespace wherry::tuning::simulated;

namespace {

/// One rank whose calls take these times, one after the other.
class Course {
 public:
  explicit Course(std::vector<double> seconds) : stretches_(seconds.size()), seconds_(std::move(seconds)) {
    stretches_.compare_with(native, seconds_);
  }
  PairedStretches& stretches() { return stretches_; }
  double& seconds_of(std::size_t candidate) { return seconds_[candidate]; }

  /// A call; who performed it.
  std::size_t call() {
    if (stretches_.wants_clock()) stretches_.enter(now_s_);
    if (stretches_.is_over()) stretches_.agreed(stretches_.times());
    const std::size_t ran = stretches_.is_running() ? stretches_.arm() : winner_;
    now_s_ += seconds_[ran];
    stretches_.count(1);
    return ran;
  }
  void take_over(std::size_t winner) { stretches_.compare_with(winner_ = winner, seconds_); }

 private:
  PairedStretches stretches_;
  std::vector<double> seconds_;
  std::size_t winner_ = native;
  double now_s_ = 0;
};

std::vector<Pair> coins(std::uint64_t seed, std::size_t n, double tail) {
  std::mt19937_64 random(seed);
  const auto time = [&] { return random() % 20 == 0 ? tail : 1 + 0.1 * static_cast<double>(random() % 10); };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < n; ++i) pairs.push_back({time(), time()});
  return pairs;
}

}  // namespace

TEST_CASE("evidence: its sign says who is faster, one pair is worth 1, and equal ones as many as there are") {
  CHECK(evidence({}) == 0);
  CHECK(evidence(std::array{Pair{1, 1}}) == 0);
  CHECK(evidence(std::array{Pair{2, 1}}) == 1);
  CHECK(evidence(std::array{Pair{1, 900}}) == -1);
  CHECK(evidence(std::vector<Pair>(7, Pair{3, 2})) == doctest::Approx(7));
}

TEST_CASE(
    "one disturbance, however long, is no evidence for the other side, and hides no more than what was "
    "there") {
  std::vector<Pair> pairs(10, Pair{2, 1});
  pairs.push_back({1, 1e6});
  CHECK(evidence(pairs) < 0);
  CHECK(evidence(pairs) >= -1);
}

TEST_CASE("two that take the same seldom show evidence of 6, whatever their tails") {
  constexpr int trials = 2000;
  for (const double tail : {1.0, 10.0, 900.0}) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= trials; ++seed)
      found += std::abs(evidence(coins(seed, 40, tail))) >= 6;
    INFO("tail ", tail, ": ", found, " of ", trials);
    CHECK(found <= 0.1 * trials);  // 2 exp(-3)
  }
}

TEST_CASE(
    "a stretch's time is that from the entry of its first call to the entry of the first one after it") {
  PairedStretches stretches(2);
  stretches.compare_with(native, {1.0, 0.9});
  double now_s = 0;
  std::array<double, 2> taken{};
  std::array<int, 2> calls{};
  for (int call = 0; !stretches.is_over(); ++call) {
    if (stretches.wants_clock()) stretches.enter(now_s);
    if (stretches.is_over()) break;
    const double seconds = 1 + 0.01 * call;
    if (stretches.is_under_way()) taken[stretches.arm()] += seconds, ++calls[stretches.arm()];
    now_s += seconds;
    stretches.count(1);
  }
  CHECK(calls[0] == 4);
  CHECK(calls[1] == 4);
  CHECK(stretches.times()[0] == doctest::Approx(taken[0] / 4));
  CHECK(stretches.times()[1] == doctest::Approx(taken[1] / 4));
}

TEST_CASE("calls that nothing depends on may be counted together") {
  PairedStretches stretches(2);
  stretches.compare_with(native, {1.0, 0.9});
  int readings = 0;
  std::uint64_t calls = 0;
  for (; !stretches.is_over(); ++calls) {
    if (stretches.quiet() > 1) stretches.count(stretches.quiet());
    if (stretches.wants_clock()) stretches.enter(static_cast<double>(++readings));
    if (!stretches.is_over()) stretches.count(1);
  }
  CHECK(readings <= 4);  // where the comparison begins, and three of the pair
  CHECK_THROWS(stretches.enter(0));
}

TEST_CASE("what is faster in the long run is found; which of the two comes first is a coin's toss") {
  Course course({1.0, 0.8, 1.5});
  std::set<bool> first;
  while (!course.stretches().better()) {
    const bool began = course.stretches().is_under_way();
    const std::size_t ran = course.call();
    if (!began && course.stretches().is_under_way()) first.insert(ran == native);
  }
  CHECK(course.stretches().better() == 1);
  CHECK(first.size() == 2);
  CHECK_FALSE(course.stretches().is_slower(1));
}

TEST_CASE("who is slower than native must not take over, also when another runs") {
  Course course({1.0, 1.02, 0.5});
  for (int call = 0; call < 20000 && !course.stretches().is_slower(1); ++call) course.call();
  CHECK(course.stretches().is_slower(1));
  course.take_over(2);
  CHECK(course.stretches().is_slower(1));
  course.stretches().forget();
  CHECK_FALSE(course.stretches().is_slower(1));
}

TEST_CASE("a pair in which both take another time than before says so, one in which one of them does not") {
  for (const double factor : {3.0, 0.3}) {
    Course course({1.0, 0.9});
    for (int call = 0; call < 200; ++call) course.call();
    course.seconds_of(1) *= factor;
    for (int call = 0; call < 40; ++call) course.call();
    CHECK_FALSE(course.stretches().have_both_changed());
    course.seconds_of(native) *= factor;
    course.seconds_of(1) *= factor;
    bool found = false;
    for (int call = 0; call < 5000; ++call)
      course.call(), found = found || course.stretches().have_both_changed();
    CHECK(found);
  }
}

TEST_CASE(
    "when a pair begins, pairs have cost at most 1% of the run so far and a millisecond, by what is known "
    "then") {
  for (const double dear : {1.05, 2.0, 20.0}) {
    Course course({1.0, dear, 1.3 * dear});
    double begun_at_cost = 0, elapsed_s = 0, others_s = 0;
    int pairs = 0;
    for (int call = 0; call < 50000; ++call) {
      const bool began = course.stretches().is_under_way();
      const std::size_t ran = course.call();
      elapsed_s += course.seconds_of(ran);
      others_s += course.seconds_of(ran) - 1;
      if (began || !course.stretches().is_under_way()) continue;
      ++pairs;
      begun_at_cost = course.stretches().cost_s();
      REQUIRE(begun_at_cost <= 0.01 * elapsed_s + 1e-3);
    }
    CHECK(pairs > 2);
    CHECK(others_s <= 0.011 * elapsed_s);
  }
}
