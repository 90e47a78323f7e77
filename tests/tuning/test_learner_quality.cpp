// What training costs and how good its choice is, on simulated machines. Deterministic: fixed seeds.
#include <doctest/doctest.h>

#include "random_worlds.hpp"
#include "tuning/simulated.hpp"

using namespace wherry::tuning;
using namespace wherry::tuning::simulated;
using wherry::test::are_all_worlds;
using wherry::test::random_worlds;

namespace {

const int machines = random_worlds(400);
constexpr std::size_t ranks = 4;
constexpr std::uint64_t lag = 2;

struct Climate {
  const char* name;
  double model_error;
  Weather weather;
  double least_good;  // share of machines whose choice is within 1.15 of the best candidate after training
  double least_good_later;  // the same after 2000 calls
  double least_affordable;  // share of machines whose training cost at most 3 native calls
  double most_mean_cost;    // native calls
};

constexpr Climate climates[] = {
    {"undisturbed", 0.2, {}, 0.99, 0.99, 0.95, 1.1},
    {"undisturbed, poor model", 0.4, {}, 0.97, 0.97, 0.90, 1.4},
    {"usual", 0.2, {.call_noise = 0.05, .rank_noise = 0.03, .cold = 1.5}, 0.99, 0.99, 0.97, 0.9},
    {"spikes",
     0.3,
     {.call_noise = 0.05, .rank_noise = 0.03, .spikes = 0.02, .cold = 1.5},
     0.96,
     0.97,
     0.97,
     1.0},
    {"rough",
     0.4,
     {.call_noise = 0.08, .rank_noise = 0.03, .spikes = 0.03, .cold = 2},
     0.91,
     0.94,
     0.96,
     1.0},
    {"rough, late rank",
     0.4,
     {.call_noise = 0.08, .rank_noise = 0.03, .spikes = 0.03, .cold = 2, .lateness = 1},
     0.91,
     0.94,
     0.85,
     1.4},
};

struct Outcome {
  int good = 0;
  int good_later = 0;
  int affordable = 0;
  double cost = 0;
};

bool good(const Machine& machine, const Ranks& world) {
  return machine.truth(world.first().winner()) <= 1.15 * machine.best();
}

void observe(std::uint64_t seed, const Climate& climate, Outcome& outcome) {
  Machine machine(seed, climate.model_error, climate.weather);
  Ranks world(Learner(machine.candidates()), ranks);
  double cost = 0;
  while (!world.first().settled()) cost += machine.extra(world.step(machine, lag));
  outcome.good += good(machine, world);
  outcome.affordable += cost <= 3;
  outcome.cost += cost;
  for (int call = 0; call < 2000; ++call) world.step(machine, lag);
  outcome.good_later += good(machine, world);
}

}  // namespace

TEST_CASE("training is cheap and finds a candidate within 1.15 of the best") {
  for (const Climate& climate : climates) {
    Outcome sum;
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(machines); ++seed)
      observe(seed, climate, sum);
    INFO(std::string(climate.name), ": good ", sum.good, ", later ", sum.good_later, ", affordable ",
         sum.affordable, " of ", machines, ", mean cost ", sum.cost / machines, " native calls");
    if (!are_all_worlds()) continue;
    CHECK(sum.good >= climate.least_good * machines);
    CHECK(sum.good_later >= climate.least_good_later * machines);
    CHECK(sum.affordable >= climate.least_affordable * machines);
    CHECK(sum.cost <= climate.most_mean_cost * machines);
  }
}

TEST_CASE("training takes few calls") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Machine machine(seed, 0.4, {.call_noise = 0.05, .rank_noise = 0.03});
    Ranks world(Learner(machine.candidates()), ranks);
    while (!world.first().settled()) world.step(machine, lag);
    CAPTURE(seed);
    CHECK(world.first().calls() <= 80);
  }
}

TEST_CASE("on a rough machine that others share, calls take little longer than the best candidate's") {
  constexpr Weather shared = {.call_noise = 0.3, .rank_noise = 0.2, .spikes = 0.04, .cold = 2, .drift = 0.2};
  constexpr int calls = 16000;
  const int some = random_worlds(100);
  double longer = 0;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(some); ++seed) {
    Machine machine(seed, 0.4, shared);
    Ranks world(Learner(machine.candidates()), ranks);
    for (int call = 0; call < calls; ++call)
      longer += machine.truth(world.step(machine, lag)) / machine.best() - 1;
  }
  INFO("calls take ", 100 * longer / some / calls, "% longer, training and re-evaluations included");
  if (are_all_worlds()) CHECK(longer <= 0.045 * some * calls);
}
