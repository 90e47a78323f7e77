// What trials tell of ranks that wait for each other, or whose calls vary, and the rates that they compare.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "waiting/decision.hpp"
#include "worlds.hpp"

using namespace wherry;
using namespace wherry::waiting;

namespace {

/// Two ranks that wait for each other beside a stranger: the calls that both make in a millisecond, by how many poll.
struct Coupled {
  std::array<double, 3> calls;
  double noise = 0;

  /// Milliseconds that the ranks have polled, in all. lag: of the second rank's trials.
  int live(int milliseconds, int lag_ms) const {
    Process ranks[] = {Process(WaitMode::automatic, two_on_two), Process(WaitMode::automatic, two_on_two)};
    ranks[1].live(alone, lag_ms);
    std::mt19937 random(7);
    int polled = 0;
    for (int i = 0; i < milliseconds; ++i) {
      const int polling = int{ranks[0].decision.polls()} + int{ranks[1].decision.polls()};
      const double factor = 1 + noise * (static_cast<double>(random() % 200) / 100 - 1);
      const Counted counted{160, 0.3, factor * calls.at(static_cast<std::size_t>(polling))};
      for (Process& rank : ranks) polled += rank.live({"coupled", counted, counted}, 1);
    }
    return polled;
  }
};

}  // namespace

TEST_CASE("all that wait by the same clock change at once, each pair in both ways") {
  int first_polls = 0;
  std::set<std::uint64_t> lengths;
  for (std::uint64_t pair = 0; pair < 200; ++pair) {
    const TrialSlot first = slot_at(pair * 25 * ms), second = slot_at(first.end_ns);
    CHECK(first.pair == pair);
    CHECK(second.pair == pair);
    CHECK(first.polls != second.polls);
    CHECK(second.end_ns == (pair + 1) * 25 * ms);
    CHECK(slot_at(first.end_ns - 1).polls == first.polls);
    first_polls += first.polls;
    lengths.insert(first.end_ns - pair * 25 * ms);
  }
  CHECK(first_polls > 70);
  CHECK(first_polls < 130);
  CHECK(lengths.size() >= 8);
  CHECK(*lengths.begin() >= 8 * ms);
  CHECK(*lengths.rbegin() < 18 * ms);
}

TEST_CASE("ranks that slow each other down by polling spin, however their trials lie") {
  for (const int lag_ms : {0, 3, 10, 13, 17, 40}) {
    CAPTURE(lag_ms);
    CHECK(Coupled{.calls = {100, 20, 10}}.live(60'000, lag_ms) < 2 * 60'000 / 60);
    CHECK(Coupled{.calls = {100, 80, 70}, .noise = 0.5}.live(60'000, lag_ms) < 2 * 60'000 / 20);
  }
}

TEST_CASE("ranks that speed each other up by polling poll, also where one alone gains nothing") {
  for (const int lag_ms : {0, 3, 10, 13, 17, 40}) {
    CAPTURE(lag_ms);
    CHECK(Coupled{.calls = {100, 117, 135}, .noise = 0.5}.live(60'000, lag_ms) > 2 * 54'000);
    CHECK(Coupled{.calls = {100, 100, 135}, .noise = 0.5}.live(60'000, lag_ms) > 2 * 54'000);
  }
}

namespace {

/// Calls in a millisecond of ranks that spin: of two rates, each for some milliseconds, at random.
struct Unsteady {
  double fast, slow;
  int fast_ms, slow_ms;
  double polling;

  double spinning() const { return (fast * fast_ms + slow * slow_ms) / (fast_ms + slow_ms); }
  /// Of the calls that it would make by the better way to wait, the share that a process makes.
  double share(int milliseconds, unsigned seed) const {
    Process process(WaitMode::automatic, two_on_two);
    std::mt19937 random(seed);
    bool is_fast = true;
    for (int i = 0; i < milliseconds; ++i) {
      if (random() % static_cast<unsigned>(is_fast ? fast_ms : slow_ms) == 0) is_fast = !is_fast;
      process.live({"unsteady", {160, 0.3, is_fast ? fast : slow}, {300, 0.6, polling}}, 1);
    }
    return process.calls() / milliseconds / std::max(spinning(), polling);
  }
  double mean_share(int milliseconds) const {
    constexpr unsigned seeds = 20;
    double sum = 0;
    for (unsigned seed = 1; seed <= seeds; ++seed) sum += share(milliseconds, seed);
    return sum / seeds;
  }
};

}  // namespace

TEST_CASE(
    "ranks that are fast with a core each and stand still with one together are compared by their mean") {
  constexpr Unsteady spinning_wins{.fast = 500, .slow = 1, .fast_ms = 30, .slow_ms = 20, .polling = 50},
      polling_wins{.fast = 500, .slow = 1, .fast_ms = 10, .slow_ms = 60, .polling = 200};
  CHECK(spinning_wins.mean_share(1000) > 0.8);
  CHECK(spinning_wins.mean_share(20'000) > 0.9);
  CHECK(polling_wins.mean_share(20'000) > 0.9);
}

namespace {

/// Milliseconds of these that a process polls beside others. Calls in a millisecond, which vary from none to twice as
/// many.
int beside(Process& process, std::mt19937& random, int milliseconds, double spinning, double polling) {
  int polled = 0;
  for (int i = 0; i < milliseconds; ++i) {
    const double noise = static_cast<double>(random() % 200) / 100;
    polled += process.live({"beside", {160, 0.3, spinning * noise}, {300, 0.6, polling * noise}}, 1);
  }
  return polled;
}

}  // namespace

TEST_CASE("while trials speak against polling, though not clearly, it spins between them") {
  std::mt19937 random(3);
  int between_trials = 0, polled = 0;
  for (int i = 0; i < 50; ++i) {
    Process process(WaitMode::automatic, two_on_two);
    while (process.decision.trials() == 0) beside(process, random, 1, 100, 70);
    while (process.decision.is_trying()) beside(process, random, 1, 100, 70);
    for (int ms = 0; ms < 50; ++ms, ++between_trials) polled += beside(process, random, 1, 100, 70);
  }
  CHECK(polled < between_trials / 2);
}

TEST_CASE("while trials do not tell, it polls more often than not: one rank that polls alone gains nothing") {
  int polled = 0;
  for (const int lag_ms : {0, 3, 10, 13, 17, 40})
    polled += Coupled{.calls = {100, 100, 110}, .noise = 0.9}.live(500, lag_ms);
  CHECK(polled > 6 * 2 * 500 / 2);
}

TEST_CASE("what trials said of a neighbor that has gone since is forgotten") {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Process process(WaitMode::automatic, two_on_two);
    beside(process, random, 500, 100, 80);
    process.live(alone, 600'000);
    beside(process, random, 2000, 100, 80);
    process.live(alone, 10'000);
    CHECK(beside(process, random, 60'000, 1, 50) > 50'000);
  }
}

TEST_CASE("rates of pairs: fewer than two tell nothing, nor do none") {
  PairedRates rates;
  CHECK_FALSE(rates.differ(1, 0));
  rates.add(1, 5);
  CHECK_FALSE(rates.differ(1, 0));
  PairedRates none;
  for (int i = 0; i < 10; ++i) none.add(0, 0);
  CHECK_FALSE(none.differ(1, 0));
}

TEST_CASE("rates of pairs: by so many standard errors, and by this factor") {
  PairedRates rates;
  for (const double more : {1.0, 2.0, 3.0}) rates.add(10, 10 + more);
  CHECK(rates.pairs() == 3);
  CHECK(rates.polling_is_better());
  // Of differences 1, 2, 3 the standard deviation is 1, and the mean 2 is 2 / (1 / sqrt(3)) = 3.464 errors from 0.
  CHECK(rates.differ(1, 3.4));
  CHECK_FALSE(rates.differ(1, 3.5));
  // 12 against 10.
  CHECK(rates.differ(1.19, 3.4));
  CHECK_FALSE(rates.differ(1.21, 3.4));
}

TEST_CASE("rates of pairs: the side that stands still loses") {
  PairedRates rates;
  for (const double spun : {4.0, 6.0, 5.0, 5.0}) rates.add(spun, 0);
  CHECK(rates.differ(4, 3.5));
  CHECK_FALSE(rates.polling_is_better());
}
