// What trials cost a program: a share of its run and a millisecond, and what the first calls of a candidate take longer
// than expected.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "random_worlds.hpp"
#include "tuning/simulated.hpp"
#include "tuning/trial_budget.hpp"

using namespace wherry::tuning;
using simulated::Machine;
using simulated::Ranks;
using simulated::Weather;
using wherry::test::are_all_worlds;
using wherry::test::random_worlds;

namespace {

constexpr std::uint64_t lag = 2;
constexpr LearnerOptions bounded{.affordable_s = 0};

double elapsed_s = 0;
double clock_s() { return elapsed_s; }

/// A program on 4 ranks that calls one collective and computes in between.
class Program {
 public:
  Program(Machine& machine, double computes_s)
      : machine_(machine), computes_s_(computes_s), ranks_(Learner(machine.candidates(), bounded), 4) {
    elapsed_s = 0;
  }

  /// What ran.
  std::size_t step() {
    const double before_s = ranks_.elapsed_s(), cost_s = learner().cost_s();
    const std::size_t candidate = ranks_.step(machine_, lag, budget_.left_s());
    budget_.spend(learner().cost_s() - cost_s);
    elapsed_s += ranks_.elapsed_s() - before_s + computes_s_;
    if (!learner().settled())
      true_cost_s_ += std::max(0.0, machine_.truth(candidate) - machine_.truth(native));
    return candidate;
  }

  const Learner& learner() const { return ranks_.first(); }
  /// What calls have taken beyond native ones before training was over, whatever the learner says.
  double true_cost_s() const { return true_cost_s_; }
  /// What trials may have cost by now.
  static double bound_s() { return TrialBudget::least_s + TrialBudget::share * elapsed_s; }

 private:
  Machine& machine_;
  double computes_s_;
  double true_cost_s_ = 0;
  Ranks ranks_;
  TrialBudget budget_{(elapsed_s = 0, clock_s)};
};

/// All times so many times as long.
Machine scaled(std::uint64_t seed, double factor, Weather weather) {
  Machine machine(seed, 0.3, weather);
  for (std::size_t i = 0; i < machine.candidates().size(); ++i)
    machine.set_truth(i, factor * machine.truth(i));
  return machine;
}

double worst_extra_s(const Machine& machine) {
  double worst = 0;
  for (std::size_t i = 1; i < machine.candidates().size(); ++i)
    worst = std::max(worst, machine.extra(i) * machine.truth(native));
  return worst;
}

}  // namespace

TEST_CASE("a budget grows with the run and shrinks with what is spent") {
  elapsed_s = 5;
  TrialBudget budget(clock_s);
  CHECK(budget.left_s() == doctest::Approx(1e-3));
  budget.spend(4e-3);
  CHECK(budget.left_s() == 0);
  elapsed_s = 6;
  CHECK(budget.left_s() == doctest::Approx(17e-3));
  CHECK(budget.spent_s() == doctest::Approx(4e-3));
}

TEST_CASE("a dozen long calls are native") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Machine machine = scaled(seed, 5e-3 / Machine(seed, 0.3, {}).truth(native), {.call_noise = 0.1});
    Program program(machine, 2.5e-3);
    for (int call = 0; call < 12; ++call) CHECK(program.step() == native);
  }
}

TEST_CASE("calls of microseconds are tried at once") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Machine machine = scaled(seed, 10e-6, {});
    Program program(machine, 10e-6);
    bool tried = false;
    for (int call = 0; call < 10; ++call) tried = program.step() != native || tried;
    CHECK(tried);
  }
}

TEST_CASE("trials cost no more than their share of the run") {
  for (const Weather& weather :
       {Weather{}, Weather{.call_noise = 0.05}, Weather{.call_noise = 0.1, .drift = 0.2}})
    for (const double computes : {0.0, 1.0, 10.0})
      for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(random_worlds(60)); ++seed) {
        CAPTURE(seed);
        CAPTURE(computes);
        Machine machine = scaled(seed, 1e-3, weather);
        Program program(machine, computes * 1e-3);
        // The first calls of a candidate may cost more than was expected of them; how much, nobody knew.
        const double surprise_s = 6 * worst_extra_s(machine);
        for (int call = 0; call < 3000; ++call) {
          program.step();
          REQUIRE(program.learner().cost_s() <=
                  1.25 * Program::bound_s() + surprise_s);  // means are estimates
          REQUIRE(program.true_cost_s() <= 1.1 * Program::bound_s() + surprise_s);
        }
        REQUIRE(program.learner().cost_s() <= 1.5 * Program::bound_s());
      }
}

TEST_CASE("what waits for its trials finds the best one all the same") {
  int good = 0;
  const auto machines = static_cast<std::uint64_t>(random_worlds(100));
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    Machine machine = scaled(seed, 1e-3, {.call_noise = 0.05});
    Program program(machine, 1e-3);
    for (int call = 0; call < 4000; ++call) program.step();
    good += machine.truth(program.learner().winner()) <= 1.15 * machine.best();
  }
  if (are_all_worlds()) CHECK(good >= 95);
}
