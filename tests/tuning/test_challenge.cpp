// A trial that challenges native: what short trials took for the best may have a tail that only the program's course
// shows. Deterministic: fixed seeds.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "tuning/learner.hpp"
#include "tuning/simulated_program.hpp"

using namespace wherry::tuning;
using namespace wherry::tuning::simulated;

namespace {

struct Challenged {
  World world;
  double gain;              // of the challenger, without native's tail
  int least_won, most_won;  // of 40 programs
};

constexpr Challenged challenged_worlds[] = {
    // Four ranks on two cores: most calls take 34 us, one in five 30 ms.
    {{.name = "native's tail",
      .tail_share = 0.2,
      .tail_times = 900,
      .is_natives_tail = true,
      .step_s = 34e-6},
     0,
     39,
     40},
    {{.name = "native's rare tail",
      .tail_share = 0.05,
      .tail_times = 900,
      .is_natives_tail = true,
      .step_s = 34e-6},
     -0.5,
     36,
     40},
    {{.name = "native's tail, a late rank",
      .lateness = 2,
      .tail_share = 0.2,
      .tail_times = 100,
      .is_natives_tail = true},
     0,
     38,
     40},
    {{.name = "native's tail, a period",
      .tail_share = 0.2,
      .tail_times = 100,
      .is_natives_tail = true,
      .kinds = 7},
     0,
     38,
     40},
    {{.name = "native's tail, a drift",
      .tail_share = 0.2,
      .tail_times = 100,
      .is_natives_tail = true,
      .drift = 3},
     0,
     38,
     40},
    {{.name = "everybody's tail", .tail_share = 0.2, .tail_times = 900, .step_s = 34e-6}, 0, 0, 3},
    {{.name = "no difference"}, 0, 0, 3},
    {{.name = "a slower challenger"}, -0.2, 0, 0},
};

Program challenge(std::uint64_t seed, const Challenged& c, std::uint64_t steps) {
  Program program(seed, c.gain, c.world, steps, 2, Arm::native);
  for (std::uint64_t i = 0; i < steps; ++i) program.step();
  return program;
}

}  // namespace

TEST_CASE("what is slow only in the program's course loses to a challenger, and nothing else does") {
  for (const Challenged& c : challenged_worlds) {
    int won = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
      won += challenge(seed, c, 3000).first().verdict() == Verdict::other;
    INFO(std::string(c.world.name), ": ", won, " of 40 won");
    CHECK(won >= c.least_won);
    CHECK(won <= c.most_won);
  }
}

TEST_CASE("a challenger that is clearly faster runs before the verdict, in less than two hundred calls") {
  constexpr std::uint64_t steps = 200;
  std::uint64_t early = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Program program = challenge(seed, challenged_worlds[0], steps);
    early += program.calls_of(Arm::native) <= steps / 2;
  }
  INFO(early, " of 40 programs make at most half of ", steps, " calls natively");
  CHECK(early >= 36);
}

TEST_CASE(
    "native runs in all but some 1% of the calls once a challenger has lost, and none passes while a pair is "
    "due") {
  const Challenged slower{{.name = "slower"}, -0.2, 0, 0};
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    INFO("seed ", seed);
    const Program program = challenge(seed, slower, 50000);
    CHECK(program.first().verdict() == Verdict::native);
    CHECK(program.calls_of(Arm::other) <= 0.01 * 50000);
  }
}

TEST_CASE("a rank whose calls pass and one that asks at each decide alike") {
  ControlledTrial asked(Arm::native), passed(Arm::native);
  static const char kinds[3] = {};
  std::mt19937_64 random(5);
  double now_s = 0;
  std::uint64_t passes = 0, in_pairs = 0, asked_for_native = 0, agreements = 0;
  for (int call = 0; call < 20000; ++call) {
    const void* const kind = &kinds[random() % 3];
    const long long expected_ns = static_cast<long long>(random() % 2000);
    if (asked.wants_clock()) asked.enter(now_s);
    const Arm arm = asked.begin(kind, expected_ns);
    if (passed.passes()) {
      ++passes;
      in_pairs += passed.is_under_way();
      if (passed.wants_clock()) passed.enter(now_s);
      passed.pass(kind, expected_ns);
      REQUIRE(arm == Arm::native);
    } else {
      asked_for_native += arm == Arm::native;
      if (passed.wants_clock()) passed.enter(now_s);
      REQUIRE(passed.begin(kind, expected_ns) == arm);
    }
    now_s += (arm == Arm::native ? 10e-6 : 11e-6) * (1 + static_cast<double>(random() % 100) / 100);
    if (call % 100 != 0) continue;
    ++agreements;
    const ControlledTrial::Snapshot taken = asked.snapshot();
    const std::vector<long long> numbers = asked.to_agree(20e-6 + 0.02 * now_s, Trials::after_barriers);
    for (ControlledTrial* trial : {&asked, &passed}) trial->agreed(numbers, Trials::after_barriers, 1, taken);
  }
  CHECK(asked.claim().pairs > 10);  // then one has lost, and pairs are rare
  CHECK(asked.claim().pairs == passed.claim().pairs);
  CHECK(passes > 10000);
  CHECK(in_pairs > 3 * asked.claim().pairs);
  // The first call of a pair, the one after it, and what asks whether one may begin.
  CHECK(asked_for_native <= 2 * asked.claim().pairs + agreements + 1);
  CHECK(!ControlledTrial().passes());
}

TEST_CASE("whoever the program's course has promoted is not given up for native by calls back to back") {
  std::vector<Candidate> candidates = {{"native", 0}, {"tailless", 10e-6}};
  Learner learner = Learner::settled_on(candidates, native, 40e-6, 34e-6);
  learner.promote(1);
  CHECK(learner.winner() == 1);
  const std::vector<double> faster_native = {34e-6, 40e-6};
  for (int call = 0; call < 20000; ++call) {
    learner.took(learner.pick() == native ? 34e-6 : 40e-6);
    if (learner.round_over()) learner.agreed(faster_native);
  }
  CHECK(learner.winner() == 1);
}

TEST_CASE("an agreement that is asked for comes at once, and puts off no drift check") {
  Learner learner = Learner::settled_on({{"native", 0}, {"direct", 10e-6}}, native, 10e-6, 10e-6);
  for (int call = 0; call < 20; ++call) learner.took(1e-5);
  CHECK(learner.calls_until_decision() > 100);
  learner.hasten();
  learner.took(1e-5);
  CHECK(learner.in_round());
  while (!learner.round_over()) learner.took(1e-3);  // however long that takes
  learner.agreed(learner.summary());
  CHECK(learner.settled());
  CHECK(learner.calls_until_decision() > 100);
}
