// What the learner does, step by step, on one rank with given times.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/stats.hpp"
#include "tuning/given_times.hpp"

using namespace wherry;
using namespace wherry::tuning;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double mean_after_first(const std::vector<double>& burst) { return mean(std::span(burst).subspan(1)); }

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

TEST_CASE("where times are exact, each candidate runs once, and native in the first round only") {
  LearnerOptions options;
  options.exact = true;
  Learner learner(three(), options);
  CHECK(train(learner, {1.0, 0.8, 0.5}) == std::vector<int>{2, 1, 1});
  CHECK(learner.winner() == 2);
  Learner usual(three());
  CHECK(train(usual, {1.0, 0.8, 0.5})[1] > 1);
}

TEST_CASE("a lucky time of native's in a round that a candidate was not in does not count against it") {
  Learner learner(three());
  for (int round = 0; !learner.settled(); ++round) run_round(learner, {round == 0 ? 0.5 : 1.0, 1.0, 0.8});
  CHECK(learner.winner() == 2);
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

TEST_CASE("where calls take microseconds, a strategy's set-up does not use up the budget") {
  const auto winner = [](LearnerOptions options) {
    Learner learner({{"native", 0}, {"direct", 1.0}}, options);
    std::vector<double> seconds = {2e-6, 26e-6};
    while (!learner.settled()) {
      run_round(learner, seconds);
      seconds[1] = 0.7e-6;
    }
    return learner.winner();
  };
  CHECK(winner({}) == 1);
  CHECK(winner({.least_budget_s = 0}) == native);
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
    CHECK(std::isfinite(learner.seconds(native).value()));
  }
}

TEST_CASE("events tell the story: every trial and drop, and one winner") {
  Learner learner(three());
  train(learner, {1.0, 1.9, 0.5});
  const std::vector<Event> events = learner.drain_events();
  CHECK(count(events, EventReason::trial) == 2);
  CHECK(count(events, EventReason::dropped) == 1);
  REQUIRE(count(events, EventReason::kept) == 1);
  CHECK(events.back().reason == EventReason::kept);
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
  CHECK(events[0].reason == EventReason::loaded);
  CHECK_THROWS_AS(Learner::settled_on(three(), 3, 1, 1), usage_error);
}

TEST_CASE("a loaded learner may lack times") {
  Learner learner = Learner::settled_on(three(), 1, std::nullopt, std::nullopt);
  CHECK(learner.pick() == 1);
  CHECK_FALSE(learner.seconds(1));
}

TEST_CASE("by_model assumes the prediction for good") {
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

TEST_CASE("a burst's first call settles what ran before, and the mean of the others counts") {
  Learner learner({{"native", 0}, {"mesh", 1.0}}, {.reevaluate_first = 8});
  train(learner, {1.0, 0.5});
  while (!learner.trying()) learner.took(0.5);
  std::vector<std::vector<double>> bursts(2);
  for (double seconds = 1; learner.trying(); seconds *= 2) {
    bursts[learner.pick()].push_back(seconds);
    learner.took(seconds);
  }
  CHECK(learner.summary() == std::vector<double>{mean_after_first(bursts[0]), mean_after_first(bursts[1])});
}

TEST_CASE("of a burst the calls after the first count, and the only one of an untried candidate's") {
  Learner learner({{"native", 0}, {"mesh", 1.0}});
  std::vector<std::pair<std::size_t, bool>> seen;
  for (; learner.trying(); learner.took(1.0)) seen.emplace_back(learner.pick(), learner.counts());
  CHECK(seen == std::vector<std::pair<std::size_t, bool>>{{0, false}, {0, true}, {1, true}});
  CHECK_FALSE(learner.counts());
}

TEST_CASE("reasons have names") {
  CHECK(name_of(EventReason::trial) == "trial");
  CHECK(name_of(EventReason::loaded) == "loaded");
}
