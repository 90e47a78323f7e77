// What the learner does, step by step, on one rank with given times.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "choose/learner.hpp"

using namespace wherry;
using namespace wherry::choose;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::vector<Candidate> three() { return {{"native", 0}, {"mesh", 1.0}, {"bruck", 1.2}}; }

/// Runs calls with these times per candidate until the learner settles; returns how often each candidate ran.
std::vector<int> train(Learner& learner, const std::vector<double>& seconds) {
  std::vector<int> runs(seconds.size());
  while (!learner.settled()) {
    const std::size_t candidate = learner.pick();
    ++runs[candidate];
    learner.took(seconds[candidate]);
    if (learner.round_over()) learner.agreed(learner.summary());
  }
  return runs;
}

/// Runs one round's calls and ends it.
void run_round(Learner& learner, const std::vector<double>& seconds) {
  while (!learner.round_over()) learner.took(seconds[learner.pick()]);
  learner.agreed(learner.summary());
}

int count(const std::vector<Event>& events, Reason reason) {
  int n = 0;
  for (const Event& e : events) n += e.reason == reason;
  return n;
}

}  // namespace

TEST_CASE("the first call of all is native") { CHECK(Learner(three()).pick() == native); }

TEST_CASE("the fastest candidate is kept") {
  Learner learner(three());
  train(learner, {1.0, 0.8, 0.5});
  CHECK(learner.winner() == 2);
  CHECK(learner.pick() == 2);
  CHECK(learner.seconds(2) == 0.5);
  CHECK(learner.seconds(native) == 1.0);
  CHECK(learner.spent() == 0);
}

TEST_CASE("native wins ties and near ties") {
  for (const double gain : {0.0, 0.01, 0.03}) {
    Learner learner(three());
    train(learner, {1.0, 1.0 - gain, 1.1});
    CHECK(learner.winner() == native);
  }
}

TEST_CASE("a candidate that is clearly worse is dropped after two trials, of one call and of two") {
  Learner learner(three());
  const std::vector<int> runs = train(learner, {1.0, 1.6, 0.7});
  CHECK(runs[1] == 3);
  CHECK(learner.winner() == 2);
}

TEST_CASE("a disastrous candidate is tried once") {
  Learner learner({{"native", 0}, {"mesh", 1.0}});
  CHECK(train(learner, {1.0, 40.0})[1] == 1);
  CHECK(learner.winner() == native);
}

TEST_CASE("trials cost no more than the budget, or little more where a first time left hope") {
  for (int tenths = 10; tenths < 40; ++tenths) {
    const double slow = tenths / 10.0;
    std::vector<Candidate> candidates = {{"native", 0}};
    std::vector<double> seconds = {1.0};
    for (int i = 0; i < 5; ++i) {
      candidates.push_back({"s" + std::to_string(i), slow});
      seconds.push_back(slow);
    }
    Learner learner(candidates);
    train(learner, seconds);
    CAPTURE(slow);
    CHECK(learner.spent() <= (slow < 1.75 ? 3.0 : 4.5));
    CHECK(learner.winner() == native);
  }
}

TEST_CASE("without a budget nothing is tried") {
  Learner learner(three(), {.budget = 0});
  CHECK(learner.settled());
  for (int i = 0; i < 100; ++i) {
    CHECK(learner.pick() == native);
    learner.took(1);
  }
}

TEST_CASE("native alone needs no training") {
  Learner learner({{"native", 0}});
  CHECK(learner.settled());
  for (int i = 0; i < 20000; ++i) learner.took(1);
  CHECK_FALSE(learner.round_over());
}

TEST_CASE("candidates that the model calls hopeless are not tried") {
  Learner learner({{"native", 0}, {"good", 1.0}, {"hopeless", 2.5}});
  CHECK(train(learner, {1.0, 0.9, 0.1})[2] == 0);
}

TEST_CASE("candidates without a prediction are tried") {
  Learner learner({{"native", 0}, {"a", unknown}, {"b", -1}, {"c", 0}});
  train(learner, {1.0, 0.9, 0.8, 0.5});
  CHECK(learner.winner() == 3);
}

TEST_CASE("no more candidates are tried than allowed") {
  std::vector<Candidate> candidates = {{"native", 0}};
  std::vector<double> seconds = {1.0};
  for (int i = 0; i < 8; ++i) {
    candidates.push_back({"s" + std::to_string(i), 1 + i * 0.01});
    seconds.push_back(0.9);
  }
  Learner learner(candidates, {.most_tried = 3});
  const std::vector<int> runs = train(learner, seconds);
  CHECK(std::ranges::count_if(runs, [](int n) { return n > 0; }) == 1 + 3);
}

TEST_CASE("a slow first call does not hide a good candidate") {
  Learner learner({{"native", 0}, {"mesh", 1.0}});
  bool first = true;
  while (!learner.settled()) {
    const bool cold = learner.pick() == 1 && std::exchange(first, false);
    learner.took(learner.pick() == native ? 1.0 : cold ? 2.5 : 0.5);
    if (learner.round_over()) learner.agreed(learner.summary());
  }
  CHECK(learner.winner() == 1);
}

TEST_CASE("while an agreement travels, the winner so far runs and its times do not count") {
  Learner learner(three());
  while (!learner.round_over()) learner.took(1.0);
  const std::vector<double> summary = learner.summary();
  for (int i = 0; i < 10; ++i) {
    CHECK(learner.pick() == native);
    CHECK(learner.round_over());
    learner.took(1e-6);
  }
  CHECK(learner.summary() == summary);
  learner.agreed(summary);
  CHECK(learner.seconds(native) == 1.0);
}

TEST_CASE("a summary has a time for each candidate of the round and infinity for the others") {
  Learner learner(three());
  while (!learner.round_over()) learner.took(learner.pick() == native ? 1.0 : 0.5);
  const std::vector<double> summary = learner.summary();
  REQUIRE(summary.size() == 3);
  CHECK(summary[0] == 1.0);
  CHECK(summary[1] == 0.5);
  CHECK(std::isinf(summary[2]));
}

TEST_CASE("agreed() refuses what does not belong to the round") {
  Learner learner(three());
  CHECK_THROWS_AS(learner.agreed(learner.summary()), contract_error);
  while (!learner.round_over()) learner.took(1.0);
  CHECK_THROWS_AS(learner.agreed(std::vector<double>{1.0}), usage_error);
  CHECK_THROWS_AS(Learner({}), usage_error);
}

TEST_CASE("times that no clock should give do no harm") {
  for (const double absurd : {0.0, -1.0, unknown, 1e300, std::numeric_limits<double>::infinity()}) {
    Learner learner(three());
    train(learner, {absurd, 1.0, absurd});
    CHECK(learner.winner() < 3);
    CHECK(std::isfinite(learner.seconds(native)));
  }
}

TEST_CASE("events tell the story: every trial and drop, and one winner") {
  Learner learner(three());
  train(learner, {1.0, 1.9, 0.5});
  const std::vector<Event> events = learner.drain_events();
  CHECK(count(events, Reason::trial) == 2);
  CHECK(count(events, Reason::dropped) == 1);
  REQUIRE(count(events, Reason::kept) == 1);
  CHECK(events.back().reason == Reason::kept);
  CHECK(events.back().candidate == 2);
  CHECK(events.back().seconds == 0.5);
  CHECK(events.back().native_seconds == 1.0);
  CHECK(events.back().call == learner.calls());
  CHECK(learner.drain_events().empty());
}

TEST_CASE("a loaded learner runs its winner at once") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0);
  CHECK(learner.settled());
  CHECK(learner.pick() == 2);
  CHECK(learner.seconds(2) == 0.5);
  const std::vector<Event> events = learner.drain_events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].reason == Reason::loaded);
  CHECK_THROWS_AS(Learner::settled_on(three(), 3, 1, 1), usage_error);
}

TEST_CASE("a loaded learner may lack times") {
  Learner learner = Learner::settled_on(three(), 1, unknown, unknown);
  CHECK(learner.pick() == 1);
  CHECK(std::isnan(learner.seconds(1)));
}

TEST_CASE("by_model believes the prediction for good") {
  Learner learner = Learner::by_model({{"native", 0}, {"a", 2.0}, {"b", 1.0}, {"c", 3.0}});
  for (int i = 0; i < 20000; ++i) {
    REQUIRE(learner.pick() == 2);
    learner.took(i);
  }
  CHECK(Learner::by_model({{"native", 0}}).pick() == native);
  CHECK_THROWS_AS(Learner::by_model({}), usage_error);
}

TEST_CASE("no_trials keeps a choice for good") {
  Learner learner = Learner::settled_on(three(), 1, 0.5, 1.0, no_trials);
  for (int i = 0; i < 50000; ++i) {
    REQUIRE(learner.pick() == 1);
    learner.took(5.0);
  }
}

TEST_CASE("a look returns to native when the winner has become slower") {
  Learner learner = Learner::settled_on(three(), 2, 0.6, 1.0);
  run_round(learner, {1.0, 1.5, 1.1});
  CHECK(learner.winner() == native);
  CHECK(count(learner.drain_events(), Reason::kept) == 1);
}

TEST_CASE("what training chose instead of native is confirmed soon, and only once") {
  Learner misled(three());
  train(misled, {1.0, 0.8, 1.5});
  REQUIRE(misled.winner() == 1);
  const std::uint64_t begin = misled.calls();
  std::uint64_t rows = 0;
  for (; !misled.round_over(); misled.took(1.0)) rows += misled.trying();
  CHECK(misled.calls() == begin + misled.options().confirm + rows);
  CHECK(rows == 32);  // native and the winner, in long rows
  misled.agreed(std::vector<double>{0.7, 0.8, std::numeric_limits<double>::infinity()});
  CHECK(misled.winner() == native);
  const std::uint64_t confirmed = misled.calls();
  while (!misled.trying()) misled.took(1.0);
  CHECK(misled.calls() == confirmed + misled.options().look_first);
}

TEST_CASE("there is nothing to confirm where native was chosen, or looks begin as soon") {
  const auto first_look = [](const LearnerOptions& options, double mesh) {
    Learner learner(three(), options);
    train(learner, {1.0, mesh, 1.5});
    const std::uint64_t begin = learner.calls();
    while (!learner.trying()) learner.took(1.0);
    return learner.calls() - begin;
  };
  CHECK(first_look({}, 1.2) == LearnerOptions{}.look_first);
  CHECK(first_look({.look_first = 32}, 0.5) == 32);
}

TEST_CASE("a look finds what training missed") {
  Learner learner(three());
  train(learner, {1.0, 1.02, 30.0});
  REQUIRE(learner.winner() == native);
  for (int round = 0; round < 60; ++round)
    run_round(learner, {1.0, 1.02, 0.4});  // a dear one waits for a wide gap
  CHECK(learner.winner() == 2);
}

TEST_CASE("a look that finds nothing new changes nothing and says nothing") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0);
  learner.drain_events();
  for (int look = 0; look < 4; ++look) run_round(learner, {1.0, 1.2, 0.5});
  CHECK(learner.winner() == 2);
  CHECK(learner.drain_events().empty());
}

TEST_CASE("looks are rare and cost at most their share") {
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

TEST_CASE("a row's first call settles what ran before, and the median of the others counts") {
  Learner learner({{"native", 0}, {"mesh", 1.0}}, {.look_first = 8});
  train(learner, {1.0, 0.5});
  while (!learner.trying()) learner.took(0.5);
  std::vector<std::vector<double>> rows(2);
  for (double seconds = 1; learner.trying(); seconds *= 2) {
    rows[learner.pick()].push_back(seconds);
    learner.took(seconds);
  }
  CHECK(learner.summary() == std::vector<double>{rows[0].at(2), rows[1].at(2)});  // rows of four
}

TEST_CASE("of a row the calls after the first count, and the only one of a newcomer's") {
  Learner learner({{"native", 0}, {"mesh", 1.0}});
  std::vector<std::pair<std::size_t, bool>> seen;
  for (; learner.trying(); learner.took(1.0)) seen.emplace_back(learner.pick(), learner.counts());
  CHECK(seen == std::vector<std::pair<std::size_t, bool>>{{0, false}, {0, true}, {1, true}});
  CHECK_FALSE(learner.counts());
}

TEST_CASE("calls that may be skipped count, and the look comes at the same call") {
  const auto settled = [] {
    return Learner::settled_on({{"native", 0}, {"mesh", 1.0}}, 0, 1.0, 1.0, {.glance = 300});
  };
  Learner slow = settled(), quick = settled();
  CHECK(quick.quiet() + 1 == slow.options().glance);
  quick.skip(quick.quiet() - 5);
  CHECK(quick.quiet() == 5);
  while (!slow.trying()) slow.took(1.0);
  while (!quick.trying()) quick.took(1.0);
  CHECK(quick.calls() == slow.calls());
  CHECK(quick.quiet() == 0);
  CHECK_THROWS(quick.skip(1));
  CHECK(Learner::by_model({{"native", 0}}).quiet() > 1'000'000'000);
  CHECK(Learner({{"native", 0}, {"mesh", 1.0}}).quiet() == 0);
}

TEST_CASE("between looks there are glances, at what runs alone, which say nothing if all is as it was") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0, {.look_first = 100000, .glance = 50});
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

TEST_CASE("training begins again when what runs takes more than twice as long as usual, or less than half") {
  for (const double factor : {2.1, 0.45}) {
    Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0);
    learner.drain_events();
    const std::uint64_t glance = learner.calls() + learner.options().glance;
    run_round(learner, {10.0, 0.4 * factor, 0.5 * factor});  // a look, or a glance
    CHECK(learner.calls() >= glance);
    CHECK_FALSE(learner.settled());
    train(learner, {10.0, 0.4 * factor, 0.5 * factor});
    CHECK(learner.winner() == 1);
    const std::vector<Event> events = learner.drain_events();
    CHECK(events.front().reason == Reason::changed);
    CHECK(events.front().candidate == 2);
    CHECK(count(events, Reason::trial) == 2);
    CHECK(events.back().reason == Reason::kept);
  }
}

TEST_CASE("one slow call in a glance is no reason to train again") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0, {.look_first = 100000});
  while (!learner.trying()) learner.took(0.5);
  for (int call = 0; learner.trying(); ++call) learner.took(call == 2 ? 50 : 0.5);
  learner.agreed(learner.summary());
  CHECK(learner.settled());
}

TEST_CASE("rows of training are not compared with: calls may be faster in the long run") {
  Learner learner(three());
  train(learner, {1.0, 1.2, 1.5});
  run_round(learner, {0.3, 0.4, 0.5});
  CHECK(learner.settled());
  CHECK(learner.winner() == native);
  run_round(learner, {1.0, 1.2, 1.5});
  CHECK_FALSE(learner.settled());
}

TEST_CASE("a learner without a budget never trains again") {
  Learner learner = Learner::settled_on(three(), 2, 0.5, 1.0, {.budget = 0});
  for (int look = 0; look < 3; ++look) run_round(learner, {100.0, 100.0, 100.0});
  CHECK(learner.settled());
}

TEST_CASE("reasons have names") {
  CHECK(name_of(Reason::trial) == "trial");
  CHECK(name_of(Reason::loaded) == "loaded");
}
