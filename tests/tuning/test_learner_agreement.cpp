// The ranks never disagree, whatever the noise: the property on which the whole program's liveness rests.
#include <doctest/doctest.h>

#include "random_worlds.hpp"
#include "tuning/simulated.hpp"

using namespace wherry::tuning;
using namespace wherry::tuning::simulated;
using wherry::test::are_all_worlds;
using wherry::test::random_worlds;

namespace {

constexpr Weather weathers[] = {
    {},
    {.call_noise = 0.1, .rank_noise = 0.3, .spikes = 0.1},
    {.call_noise = 0.05, .rank_noise = 0.05, .spikes = 0.02, .cold = 4, .lateness = 3},
    {.call_noise = 1, .rank_noise = 2, .spikes = 0.3, .cold = 100},
};

/// Re-evaluations come often here, so that many of them are seen.
constexpr LearnerOptions watchful = {
    .confirm = 10, .reevaluate_first = 20, .reevaluate_last = 40, .reevaluation_share = 1};

}  // namespace

TEST_CASE("all ranks pick alike through noise, outliers, a late rank and slow agreements") {
  const int machines = random_worlds(200);
  constexpr int calls = 300;
  long long picks = 0;
  std::uint64_t seed = 0;
  for (const Weather& weather : weathers)
    for (int m = 0; m < machines; ++m) {
      Machine machine(++seed, 0.7, weather);
      const std::size_t ranks = 2 + seed % 7;
      Ranks world(Learner(machine.candidates(), watchful), ranks);
      for (int call = 0; call < calls; ++call) {
        if (!world.alike()) FAIL("seed ", seed, ": ranks disagree at call ", call);
        if (call % 100 == 99) machine.set_truth(machine.random() % machine.candidates().size(), 0.01);
        world.step(machine, machine.random() % 8);
        picks += static_cast<long long>(ranks);
      }
    }
  if (are_all_worlds()) CHECK(picks >= 1000000);
}

TEST_CASE("in a million decisions under tenfold noise, with one rank always late, there is no disagreement") {
  const auto machines = static_cast<std::uint64_t>(random_worlds(50));
  constexpr int calls = 20000;
  constexpr Weather rough = {.rank_noise = 0.3, .spikes = 0.05, .rank_spikes = 0.2, .lateness = 2};
  long long decisions = 0, trials = 0;
  for (std::uint64_t seed = 1; seed <= machines; ++seed) {
    Machine machine(seed, 0.7, rough);
    const Trials timed = seed % 2 == 0 ? Trials::after_barriers : Trials::as_they_come;
    Ranks world(Learner(machine.candidates(), of_long_calls), 2 + seed % 7, timed);
    for (int call = 0; call < calls; ++call) {
      if (!world.alike()) FAIL("seed ", seed, ": ranks disagree at call ", call);
      if (call % 5000 == 4999) machine.set_truth(machine.random() % machine.candidates().size(), 0.01);
      trials += world.first().trying();
      world.step(machine, machine.random() % 8);
      ++decisions;
    }
  }
  if (!are_all_worlds()) return;
  CHECK(decisions == 1000000);
  CHECK(trials >= 20000);  // calls at which ranks that decided by their own times would have gone apart
}

TEST_CASE("all ranks tell the same story") {
  Machine machine(7, 0.7, weathers[2]);
  Ranks world(Learner(machine.candidates(), watchful), 5);
  for (int call = 0; call < 1000; ++call) world.step(machine, 3);
  const std::vector<Event> first = world.learners().front().drain_events();
  for (std::size_t r = 1; r < world.learners().size(); ++r) {
    const std::vector<Event> other = world.learners()[r].drain_events();
    REQUIRE(other.size() == first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      CHECK(other[i].reason == first[i].reason);
      CHECK(other[i].candidate == first[i].candidate);
      CHECK(other[i].call == first[i].call);
    }
  }
}
