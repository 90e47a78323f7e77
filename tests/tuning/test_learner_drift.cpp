// A machine that changes under the program: noticed soon, and learned anew. Deterministic: fixed seeds.
#include <doctest/doctest.h>

#include <cmath>

#include "random_worlds.hpp"
#include "tuning/simulated.hpp"

using namespace wherry::tuning;
using namespace wherry::tuning::simulated;
using wherry::test::are_all_worlds;
using wherry::test::random_worlds;

namespace {

const int machines = random_worlds(300);
constexpr std::size_t ranks = 4;
constexpr std::uint64_t lag = 2;
constexpr Weather weather = {.call_noise = 0.05, .rank_noise = 0.03, .spikes = 0.02, .cold = 1.5};

bool good(const Machine& machine, const Ranks& world) {
  return machine.truth(world.first().winner()) <= 1.15 * machine.best();
}

/// As when a link slows down: everything takes several times as long, and each candidate by another factor.
void slow_down(Machine& machine) {
  for (std::size_t i = 0; i < machine.candidates().size(); ++i)
    machine.set_truth(i,
                      machine.truth(i) * std::exp2(1.5 + static_cast<double>(machine.random() % 256) / 128));
}

/// How many of the machines have a good choice so many calls after they changed.
int good_after(int calls, const LearnerOptions& options) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(machines); ++seed) {
    Machine machine(seed, 0.2, weather);
    Ranks world(Learner(machine.candidates(), options), ranks);
    for (int call = 0; call < 2500; ++call) world.step(machine, lag);
    slow_down(machine);
    for (int call = 0; call < calls; ++call) world.step(machine, lag);
    found += good(machine, world);
  }
  return found;
}

int changes(Ranks& world) {
  int found = 0;
  for (const Event& e : world.learners().front().drain_events()) found += e.reason == EventReason::changed;
  return found;
}

}  // namespace

TEST_CASE("a machine that has become slower is noticed by two drift checks, and learned anew") {
  LearnerOptions blind;
  blind.drift_check = 0;
  blind.changed = 1e9;
  const int soon = LearnerOptions{}.drift_check + 80;
  const int with = good_after(soon, {}), without = good_after(soon, blind);
  INFO("good of ", machines, " within ", soon, " calls: ", with, ", without drift checks: ", without);
  if (!are_all_worlds()) return;
  CHECK(with >= 0.9 * machines);
  CHECK(without <= 0.75 * machines);
}

TEST_CASE("long calls are checked for drift more often") {
  const int good = good_after(of_long_calls.drift_check + 80, of_long_calls);
  if (are_all_worlds()) CHECK(good >= 0.9 * machines);
}

TEST_CASE("on a machine that does not change, noise alone hardly ever begins a new training") {
  int found = 0;
  constexpr int calls = 20000;
  const int some = random_worlds(40);
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(some); ++seed) {
    Machine machine(seed, 0.2, {.call_noise = 0.1, .rank_noise = 0.1, .spikes = 0.05});
    Ranks world(Learner(machine.candidates()), ranks);
    for (int call = 0; call < calls; ++call) world.step(machine, lag);
    found += changes(world);
  }
  INFO(found, " new trainings in ", some, " x ", calls, " calls");
  if (are_all_worlds()) CHECK(found <= some / 2);
}
