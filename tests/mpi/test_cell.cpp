// A cell: its ranks learn together, and stay together where the library cannot combine their times.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include <cmath>
#include <string>
#include <utility>

#include "coll/state/cell.hpp"
#include "failing_reductions.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

constexpr int calls = 200;

struct Trouble {
  const char* name;
  Reductions with;
  std::string_view last;  // what runs at the last call
  long least_started, most_started;
};

constexpr Trouble troubles[] = {
    {"none", {}, "direct", 3, calls},
    {"no start", {.starts = false}, "native", 1, 1},
    {"no end", {.completes = false}, "native", 1, 1},
};

constexpr Trouble no_trouble[] = {{"after barriers", {}, "direct", 3, calls}};

/// The strategy takes half as long as native on all ranks but the last, which thinks otherwise.
double seconds_of(std::size_t candidate, MPI_Comm comm) {
  const bool dissents = size_of(comm) > 2 && rank_of(comm) == size_of(comm) - 1;
  return (candidate != tuning::native) != dissents ? 10e-6 : 20e-6;
}

void learn(Bench& b, const Trouble& trouble, const run::Channel& channel) {
  run::Cell cell(tuning::Learner({{"native", 20e-6}, {"direct", 10e-6}}), channel, size_of(channel.comm()),
                 run::Timing{run::Trials::as_they_come, run::Trials::after_barriers});
  long history = 0;
  std::size_t ran = tuning::native;
  for (int call = 0; call < calls; ++call) {
    ran = cell.begin();
    history = 31 * history % 1000003 + static_cast<long>(ran);
    cell.end(seconds_of(ran, channel.comm()));
  }
  b.expect(agreed(history, channel.comm()), "the ranks did not run the same");
  b.expect(cell.learner().candidates()[ran].name == trouble.last, "the last choice");
  b.expect(!cell.wants_time(), "trials go on");
  b.expect(reductions.started >= trouble.least_started, "the ranks did not agree on their times");
  b.expect(reductions.started <= trouble.most_started, "the library was asked again after it had failed");
}

/// After barriers the slowest rank's time counts, and a call outside of the trials for none: here such calls take no
/// time at all.
void learn_after_barriers(Bench& b, const Trouble&, const run::Channel& channel) {
  constexpr double native_s = 2, strategy_s = 1, between_s = 0;
  const bool slowest = rank_of(channel.comm()) == 0;
  tuning::Learner learner({{"native", 0}, {"direct", 1}});
  run::Cell cell(std::move(learner), channel, size_of(channel.comm()),
                 run::Timing{run::Trials::after_barriers, run::Trials::after_barriers});
  for (int call = 0; call < calls; ++call) {
    const std::size_t ran = cell.begin();
    const double in_trial_s = (ran != tuning::native ? strategy_s : native_s) / (slowest ? 1 : 2);
    cell.end(cell.wants_time() ? in_trial_s : between_s);
  }
  const auto is = [](double seconds, double expected) { return std::abs(seconds - expected) < 1e-6; };
  b.expect(is(cell.learner().seconds(tuning::native).value(), native_s),
           "native's time is not its slowest rank's");
  b.expect(is(cell.learner().seconds(1).value(), strategy_s),
           "the strategy's time is not its slowest rank's");
  b.expect(cell.learner().winner() == 1, "the faster one was not kept");
}

constexpr Trouble no_round_shows_it[] = {{"a challenge", {}, "direct", 3, calls}};

double clock_s = 0;
double simulated_now() { return clock_s; }

/// Back to back native takes less than the strategy; in the program's course, after calls that took other times on each
/// rank, 7 ms. Each rank has times of its own, up to half as long again.
void learn_of_a_tail(Bench& b, const Trouble& trouble, const run::Channel& channel) {
  constexpr double native_s = 34e-6, strategy_s = 40e-6, tail_s = 7e-3, compute_s = 50e-6;
  tuning::ControlledTrial trial;
  tuning::TrialBudget budget(simulated_now);
  run::Cell cell(tuning::Learner({{"native", 20e-6}, {"direct", 10e-6}}), channel, size_of(channel.comm()),
                 run::Timing{run::Trials::as_they_come, run::Trials::as_they_come}, nullptr,
                 {&trial, &budget, simulated_now});
  const double own = 1 + 0.25 * (rank_of(channel.comm()) % 3);
  long history = 0, last_native = -1;
  const int many = 20 * calls;
  for (int call = 0; call < many; ++call) {
    const std::size_t ran = cell.begin();
    const bool is_timed = cell.wants_time();
    const double usual_s = ran == tuning::native ? native_s : strategy_s;
    clock_s += own * (compute_s + (ran == tuning::native && !is_timed ? tail_s : usual_s));
    history = 31 * history % 1000003 + static_cast<long>(ran);
    if (ran == tuning::native) last_native = call;
    cell.end(own * usual_s);
  }
  b.expect(agreed(history, channel.comm()), "the ranks did not run the same");
  b.expect(cell.learner().candidates()[cell.learner().winner()].name == trouble.last,
           "native's tail was not seen in the program's course");
  b.expect(last_native > 0, "native was never tried");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("cell", failures_in(troubles, learn) + failures_in(no_trouble, learn_after_barriers) +
                               failures_in(no_round_shows_it, learn_of_a_tail));
}
