// After training: re-evaluations and drift checks, on one rank with given times.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tuning/given_times.hpp"

using namespace wherry;
using namespace wherry::tuning;

TEST_CASE("a re-evaluation returns to native when the winner has become slower") {
  Learner learner = Learner::settled_on(three(), 2, 0.6, 1.0);
  run_round(learner, {1.0, 1.5, 1.1});
  CHECK(learner.winner() == native);
  CHECK(count(learner.drain_events(), EventReason::kept) == 1);
}

TEST_CASE("what training chose instead of native is confirmed soon, and only once") {
  Learner misled(three());
  train(misled, {1.0, 0.8, 1.5});
  REQUIRE(misled.winner() == 1);
  const std::uint64_t begin = misled.calls();
  std::uint64_t timed = 0;
  for (; !misled.round_over(); misled.took(1.0)) timed += misled.trying();
  CHECK(misled.calls() == begin + misled.options().confirm + timed);
  CHECK(timed == 16);  // native and the winner, in bursts of eight
  misled.agreed(std::vector<double>{0.7, 0.8, std::numeric_limits<double>::infinity()});
  CHECK(misled.winner() == native);
  const std::uint64_t confirmed = misled.calls();
  while (!misled.trying()) misled.took(1.0);
  CHECK(misled.calls() == confirmed + misled.options().reevaluate_first);
}

TEST_CASE("there is nothing to confirm where native was chosen, or re-evaluations begin as soon") {
  const auto first_reevaluation = [](const LearnerOptions& options, double mesh) {
    Learner learner(three(), options);
    train(learner, {1.0, mesh, 1.5});
    const std::uint64_t begin = learner.calls();
    while (!learner.trying()) learner.took(1.0);
    return learner.calls() - begin;
  };
  CHECK(first_reevaluation({}, 1.2) == LearnerOptions{}.reevaluate_first);
  CHECK(first_reevaluation({.reevaluate_first = 32}, 0.5) == 32);
}

TEST_CASE("a re-evaluation finds what training missed") {
  Learner learner(three());
  train(learner, {1.0, 1.02, 30.0});
  REQUIRE(learner.winner() == native);
  for (int round = 0; round < 60; ++round)
    run_round(learner, {1.0, 1.02, 0.4});  // a dear one waits for a wide gap
  CHECK(learner.winner() == 2);
}

TEST_CASE("a candidate whose only call in training was slow is re-evaluated soon") {
  Learner learner({{"native", 0}, {"mesh", 1.0}});
  bool cold = true;
  while (!learner.settled()) {
    const bool first_of_mesh = learner.pick() == 1 && std::exchange(cold, false);
    learner.took(learner.pick() == native ? 1.0 : first_of_mesh ? 9.0 : 0.5);
    if (learner.round_over()) learner.agreed(learner.summary());
  }
  REQUIRE(learner.winner() == native);
  REQUIRE(learner.trials(1) == 1);
  for (int i = 0; i < 2; ++i) run_round(learner, {1.0, 0.5});
  CHECK(learner.winner() == 1);
  CHECK(learner.calls() < 300);
}

TEST_CASE("a re-evaluation that finds nothing new changes nothing and says nothing") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0);
  learner.drain_events();
  for (int i = 0; i < 4; ++i) run_round(learner, {1.0, 1.2, 0.5});
  CHECK(learner.winner() == 2);
  CHECK(learner.drain_events().empty());
}

TEST_CASE("re-evaluations are rare and cost at most their share") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0);
  const std::vector<double> seconds = {1.0, 1.3, 0.5};
  int others = 0;
  double extra = 0;
  constexpr int calls = 100000;
  for (int i = 0; i < calls; ++i) {
    others += learner.pick() != 2;
    extra += std::max(0.0, seconds[learner.pick()] - 1);
    learner.took(seconds[learner.pick()]);
    if (learner.round_over()) learner.agreed(learner.summary());
  }
  CHECK(others > 0);
  CHECK(others < calls / 200);
  CHECK(extra < calls * 0.01);
}

TEST_CASE("calls that may be skipped count, and the re-evaluation comes at the same call") {
  const auto settled = [] {
    return Learner::settled_on({{"native", 0}, {"mesh", 1.0}}, 0, 1.0, 1.0, {.drift_check = 300});
  };
  Learner slow = settled(), quick = settled();
  CHECK(quick.calls_until_decision() + 1 == slow.options().drift_check);
  quick.skip(quick.calls_until_decision() - 5);
  CHECK(quick.calls_until_decision() == 5);
  while (!slow.trying()) slow.took(1.0);
  while (!quick.trying()) quick.took(1.0);
  CHECK(quick.calls() == slow.calls());
  CHECK(quick.calls_until_decision() == 0);
  CHECK_THROWS(quick.skip(1));
  CHECK(Learner::by_model({{"native", 0}}).calls_until_decision() > 1'000'000'000);
  CHECK(Learner({{"native", 0}, {"mesh", 1.0}}).calls_until_decision() == 0);
}

TEST_CASE(
    "between re-evaluations there are drift checks of what runs alone, which say nothing if all is as it "
    "was") {
  Learner learner =
      Learner::settled_on(three(), 2, 0.5, 1.0, {.reevaluate_first = 100000, .drift_check = 50});
  learner.drain_events();
  int timed = 0;
  for (int call = 0; call < 1000; ++call) {
    timed += learner.trying();
    REQUIRE(learner.pick() == 2);
    learner.took(0.7);
    if (learner.round_over()) learner.agreed(learner.summary());
  }
  CHECK(timed == 1000 / (50 + 4) * 4);
  CHECK(learner.drain_events().empty());
}

TEST_CASE(
    "training begins again when what runs takes more than twice as long as usual, or less than half, twice") {
  for (const double factor : {2.1, 0.45}) {
    Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0, {.reevaluate_first = 100000});
    learner.drain_events();
    const std::uint64_t drift_check = learner.calls() + learner.options().drift_check;
    while (learner.calls() < drift_check) run_round(learner, {10.0, 6.0, 0.5});
    run_round(learner, {10.0, 0.4 * factor, 0.5 * factor});
    const std::uint64_t first = learner.calls();
    CHECK(learner.settled());
    run_round(learner, {10.0, 0.4 * factor, 0.5 * factor});
    CHECK(learner.calls() < first + 32);
    REQUIRE_FALSE(learner.settled());
    train(learner, {10.0, 0.4 * factor, 0.5 * factor});
    CHECK(learner.winner() == 1);
    const std::vector<Event> events = learner.drain_events();
    CHECK(events.front().reason == EventReason::changed);
    CHECK(events.front().candidate == 2);
    CHECK(count(events, EventReason::trial) == 2);
    CHECK(events.back().reason == EventReason::kept);
  }
}

TEST_CASE("a machine that is slow for a moment is no reason to train again") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0);
  for (int moment = 0; moment < 5; ++moment) {
    for (int usual = 0; usual < 2; ++usual) run_round(learner, {1.0, 0.9, 0.5});
    run_round(learner, {10.0, 9.0, 1.5});
  }
  CHECK(learner.settled());
  CHECK(learner.winner() == 2);
  CHECK(count(learner.drain_events(), EventReason::changed) == 0);
}

TEST_CASE("who is better in a single re-evaluation is re-evaluated soon, and does not take over") {
  Learner learner = Learner::settled_on(three(), 2, 0.9, 1.0, {.drift_check = 0});
  learner.drain_events();
  run_round(learner, {1.0, 0.5, 0.9});
  CHECK(learner.winner() == 2);
  const std::uint64_t contested = learner.calls();
  run_round(learner, {1.0, 1.1, 0.9});
  CHECK(learner.calls() == contested + learner.options().confirm + 24);  // three bursts of eight
  CHECK(learner.winner() == 2);
  CHECK(learner.drain_events().empty());
}

TEST_CASE("who is better in two re-evaluations takes over") {
  Learner learner = Learner::settled_on(three(), 2, 0.9, 1.0, {.drift_check = 0});
  learner.drain_events();
  for (int i = 0; i < 2; ++i) run_round(learner, {1.0, 0.5, 0.9});
  CHECK(learner.winner() == 1);
  CHECK(count(learner.drain_events(), EventReason::kept) == 1);
}

TEST_CASE("a single re-evaluation at which it was much better does not make up for others") {
  Learner learner = Learner::settled_on(three(), 2, 0.9, 1.0, {.drift_check = 0});
  for (const double mesh : {1.2, 0.2}) run_round(learner, {1.0, mesh, 0.9});
  CHECK(learner.winner() == 2);
}

TEST_CASE("who was better once does not take over because what runs was slow in another re-evaluation") {
  Learner learner = Learner::settled_on(three(), 2, 0.9, 1.0, {.drift_check = 0});
  run_round(learner, {1.0, 1.2, 0.9});
  run_round(learner, {1.0, 0.9, 1.7});
  CHECK(learner.winner() == 2);
}

TEST_CASE("where the result about native is contested nobody else is re-evaluated") {
  Learner learner = Learner::settled_on(three(), 2, 0.9, 1.0, {.drift_check = 0});
  for (int i = 0; i < 2; ++i) run_round(learner, {1.0, 50.0, 0.9});
  run_round(learner, {1.0, 50.0, 1.2});
  CHECK(learner.winner() == 2);
  for (; !learner.round_over(); learner.took(1.0)) CHECK(learner.pick() != 1);
}

TEST_CASE("a choice is proven by two trials or a re-evaluation, also by one whose result is contested") {
  Learner trained(three());
  train(trained, {1.0, 0.5, 1.5});
  CHECK(trained.proven());
  Learner loaded = Learner::settled_on(three(), 2, 0.9, 1.0, {.drift_check = 0});
  CHECK_FALSE(loaded.proven());
  run_round(loaded, {1.0, 0.5, 0.9});  // mesh is better, in this re-evaluation alone
  CHECK(loaded.winner() == 2);
  CHECK(loaded.proven());
}

TEST_CASE("a re-evaluation compares what runs with two others, and the next one with those that follow") {
  const auto members = [](Learner& learner) {
    while (!learner.trying()) learner.took(1.0);
    std::set<std::size_t> found;
    for (; !learner.round_over(); learner.took(1.0)) found.insert(learner.pick());
    learner.agreed(std::vector<double>(learner.candidates().size(), 1.0));
    return found;
  };
  const std::vector<Candidate> five = {{"native", 0}, {"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
  Learner learner = Learner::settled_on(five, native, 1.0, 1.0, {.drift_check = 0});
  CHECK(members(learner) == std::set<std::size_t>{native, 1, 2});
  CHECK(members(learner) == std::set<std::size_t>{native, 3, 4});
}

TEST_CASE("a disturbance of the winner alone changes nothing, and is no reason to train again") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0, {.drift_check = 0});
  run_round(learner, {1.1, 1.2, 0.5});
  learner.drain_events();
  run_round(learner, {1.1, 1.2, 1.5});
  for (int i = 0; i < 4; ++i) run_round(learner, {1.1, 1.2, 0.5});
  CHECK(learner.settled());
  CHECK(learner.winner() == 2);
  CHECK(learner.drain_events().empty());
}

TEST_CASE(
    "at most two re-evaluations in succession come soon because of contested results, whatever the times") {
  std::mt19937_64 random(4711);
  std::uniform_real_distribution<double> seconds(0.7, 1.3);
  Learner learner = Learner::settled_on(three(), 2, 0.9, 1.0, {.reevaluate_last = 512, .drift_check = 0});
  int in_a_row = 0, most = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = learner.calls();
    while (!learner.trying()) learner.took(1.0);
    in_a_row = learner.calls() - before == learner.options().confirm ? in_a_row + 1 : 0;
    most = std::max(most, in_a_row);
    const double moment = i % 5 == 0 ? 3 : 1;
    run_round(learner, {moment * seconds(random), moment * seconds(random), moment * seconds(random)});
  }
  CHECK(most == 2);
}

TEST_CASE("one slow call in a drift check is no reason to train again") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0, {.reevaluate_first = 100000});
  while (!learner.trying()) learner.took(0.5);
  for (int call = 0; learner.trying(); ++call) learner.took(call == 2 ? 50 : 0.5);
  learner.agreed(learner.summary());
  CHECK(learner.settled());
}

TEST_CASE("bursts of training are not compared with: calls may be faster in the long run") {
  Learner learner(three(), {.reevaluate_first = 100000});
  train(learner, {1.0, 1.2, 1.5});
  run_round(learner, {0.3, 0.4, 0.5});
  CHECK(learner.settled());
  CHECK(learner.winner() == native);
  for (int i = 0; i < 2; ++i) run_round(learner, {1.0, 1.2, 1.5});
  CHECK_FALSE(learner.settled());
}

TEST_CASE("a learner without a budget never trains again") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0, {.budget = 0});
  for (int i = 0; i < 3; ++i) run_round(learner, {100.0, 100.0, 100.0});
  CHECK(learner.settled());
}
