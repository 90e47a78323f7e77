// How the ranks' times become one: whose time counts decides what is learned.
#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <vector>

#include "tuning/simulated.hpp"
#include "tuning/trials.hpp"

using namespace wherry;
using namespace wherry::tuning;

namespace {

constexpr double never_s = std::numeric_limits<double>::infinity();
constexpr int ranks = 4;

const topology::Placement flat_placement = topology::Placement::flat(ranks);

/// Seconds on each rank. The root has all the work of a linear gather, and the others leave at once; in a tree, ranks
/// forward what they wait for, and all end early.
struct Gather {
  const char* name;
  std::array<double, ranks> seconds;
};
constexpr Gather gathers[] = {
    {"native", {8e-6, 3e-6, 3e-6, 3e-6}},
    {"linear", {10e-6, 1e-6, 1e-6, 1e-6}},
    {"binomial", {6e-6, 5e-6, 5e-6, 5e-6}},
};

/// What the ranks of that world agree on, having trained together.
std::size_t learned(Trials trials) {
  std::vector<Candidate> candidates;
  for (const Gather& g : gathers) candidates.push_back({g.name, 5e-6});
  std::vector<Learner> world(ranks, Learner(candidates));
  while (!world.front().settled()) {
    const std::size_t ran = world.front().pick();
    for (std::size_t r = 0; r < ranks; ++r) world[r].took(gathers[ran].seconds[r]);
    if (!world.front().round_over()) continue;
    const std::vector<double> times = agreed_times(simulated::combined(world, trials), trials, ranks);
    for (Learner& l : world) l.agreed(times);
  }
  return world.front().winner();
}

Timing chosen_for(std::optional<schedule::Operation> operation, double predicted_s,
                  const topology::Placement& where = flat_placement) {
  const std::vector<Candidate> candidates = {{"native", 0}, {"a", predicted_s}, {"b", 2 * predicted_s}};
  return timing_for(operation, candidates, where, {});
}

}  // namespace

TEST_CASE(
    "in a world where means and maxima rank differently, rooted collectives are compared by the slowest "
    "rank") {
  CHECK(gathers[learned(Trials::as_they_come)].name == std::string_view("linear"));
  for (const schedule::Operation rooted : {schedule::Operation::gather, schedule::Operation::scatter,
                                           schedule::Operation::reduce, schedule::Operation::bcast})
    CHECK(gathers[learned(chosen_for(rooted, 1e-6).in_training)].name == std::string_view("binomial"));
}

TEST_CASE(
    "short calls without a root are timed as they come, in re-evaluations only on one node; long ones after "
    "barriers") {
  for (const std::optional<schedule::Operation> operation :
       {std::optional<schedule::Operation>(), std::optional(schedule::Operation::allgather),
        std::optional(schedule::Operation::allreduce), std::optional(schedule::Operation::reduce_scatter),
        std::optional(schedule::Operation::barrier)}) {
    CHECK(chosen_for(operation, 1e-9) == Timing{Trials::as_they_come, Trials::after_barriers});
    CHECK(chosen_for(operation, 1e-9, topology::Placement::blocked(ranks, ranks)) ==
          Timing{Trials::as_they_come, Trials::as_they_come});
    CHECK(chosen_for(operation, 1.0) == Timing{Trials::after_barriers, Trials::after_barriers});
  }
}

TEST_CASE("calls are long where all candidates but native are") {
  const model::Machine machine;
  const std::vector<Candidate> both = {{"native", 0}, {"a", 1.0}, {"b", 1e-9}};
  CHECK(are_long(std::span(both).first(2), flat_placement, machine));
  CHECK_FALSE(are_long(both, flat_placement, machine));
  CHECK_FALSE(are_long(std::span(both).first(1), flat_placement, machine));
}

TEST_CASE("agreed times are the mean of the ranks' as they come, and the maximum after barriers") {
  const std::vector<double> mine = {2e-6, never_s, 0.5};
  CHECK(to_agree(mine) == std::vector<long long>{2000, -1, 500000000});
  const std::vector<long long> sums = {4000, -2, 1000000000}, maxima = {3000, -1, 600000000};
  CHECK(agreed_times(sums, Trials::as_they_come, 2) == std::vector<double>{1e-9 / 2 * 4000, never_s, 0.5});
  CHECK(agreed_times(maxima, Trials::after_barriers, 2) ==
        std::vector<double>{1e-9 * 3000, never_s, 1e-9 * 600000000});
}

TEST_CASE("what was chosen by the mean is re-evaluated by the slowest rank, after barriers") {
  const Timing timing = {Trials::as_they_come, Trials::after_barriers};
  const Learner training({{"native", 0}, {"mesh", 1.0}});
  CHECK(trials_of(training, timing) == Trials::as_they_come);
  const Learner settled = Learner::settled_on({{"native", 0}, {"mesh", 1.0}}, 1, 0.5, 1.0);
  CHECK(trials_of(settled, timing) == Trials::after_barriers);
}

TEST_CASE("re-evaluations are timed by a rule of their own; where times are exact the ranks never meet") {
  const std::vector<Candidate> candidates = {{"native", 0}, {"mesh", 1.0}};
  for (const bool exact : {false, true}) {
    LearnerOptions options;
    options.exact = exact;
    Learner learner = Learner::settled_on(candidates, 1, 0.5, 1.0, options);
    while (!learner.counts()) learner.took(0.5);
    CHECK(meet_before_call(learner, {Trials::as_they_come, Trials::after_barriers}) == !exact);
    CHECK_FALSE(meet_before_call(learner, {Trials::after_barriers, Trials::as_they_come}));
  }
  Learner training(candidates);
  while (!training.counts()) training.took(1.0);
  CHECK_FALSE(meet_before_call(training, {Trials::as_they_come, Trials::after_barriers}));
  CHECK(meet_before_call(training, {Trials::after_barriers, Trials::as_they_come}));
}
