// Whether blocking calls spin or poll, in worlds of recorded counters.
#include <doctest/doctest.h>

#include <random>

#include "waiting/decision.hpp"

using namespace wherry;
using namespace wherry::waiting;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr Situation two_on_two{.ranks_on_host = 2, .cores = 2, .library_yields = false};

/// Involuntary switches in a second of the process's own time, as measured on two cores under Linux 6.
struct World {
  double spinning;  // while it spins
  double polling;   // while it polls
};
constexpr World alone{.spinning = 10, .polling = 5};
constexpr World beside_busy_process{.spinning = 160, .polling = 4000};
/// Others that want the core only as long as ranks spin: those of its own kind.
constexpr World calm_while_polling{.spinning = 200, .polling = 2};

/// A process that is looked at every millisecond.
class Process {
 public:
  explicit Process(Waits asked, const Situation& situation) : decision(asked, situation) { step(alone); }

  /// Milliseconds of these that it has polled.
  int live(const World& world, int milliseconds) {
    int polled = 0;
    for (int i = 0; i < milliseconds; ++i) {
      polled += decision.polls();
      step(world);
    }
    return polled;
  }

  /// Milliseconds in which it does not call MPI, so that nobody looks.
  void rest(const World& world, int milliseconds) { pass(world, milliseconds); }

  Decision decision;

 private:
  void pass(const World& world, int milliseconds) {
    now_.wall_ns += static_cast<std::uint64_t>(milliseconds) * ms;
    now_.cpu_ns += static_cast<std::uint64_t>(milliseconds) * ms;
    switches_ += milliseconds * (decision.polls() ? world.polling : world.spinning) / 1000;
    now_.involuntary = static_cast<std::uint64_t>(switches_);
  }
  void step(const World& world) {
    pass(world, 1);
    decision.observe(now_);
  }

  Counters now_;
  double switches_ = 0;
};

}  // namespace

TEST_CASE("what is asked for is done, whatever is counted") {
  for (const World& world : {alone, beside_busy_process}) {
    CHECK(Process(Waits::spin, two_on_two).live(world, 1000) == 0);
    CHECK(Process(Waits::yield, two_on_two).live(world, 1000) == 1000);
  }
}

TEST_CASE("more ranks than cores poll from the first call on, and for good") {
  for (const int ranks : {3, 4, 8}) {
    const Situation crowded{.ranks_on_host = ranks, .cores = 2, .library_yields = false};
    CHECK(is_crowded(crowded));
    CHECK(Process(Waits::automatic, crowded).live(alone, 1000) == 1000);
  }
  CHECK(is_crowded({.ranks_on_host = 2, .cores = 1.5, .library_yields = false}));  // by a quota
}

TEST_CASE("what is unknown is not crowded") {
  CHECK_FALSE(is_crowded({.ranks_on_host = 0, .cores = 2, .library_yields = false}));
  CHECK_FALSE(is_crowded({.ranks_on_host = 8, .cores = 0, .library_yields = false}));
  CHECK_FALSE(is_crowded(two_on_two));
}

TEST_CASE("a library that yields by itself where there are more ranks than cores is left to it there") {
  const Situation crowded{.ranks_on_host = 4, .cores = 2, .library_yields = true};
  Process process(Waits::automatic, crowded);
  CHECK(process.live(beside_busy_process, 1000) == 0);
  CHECK_FALSE(process.decision.adapts());
  CHECK(Process(Waits::yield, crowded).live(alone, 100) == 100);
}

TEST_CASE("a library that yields by itself sees no other processes") {
  Situation alone_on_cores = two_on_two;
  alone_on_cores.library_yields = true;
  CHECK(Process(Waits::automatic, alone_on_cores).live(beside_busy_process, 1000) > 0);
}

TEST_CASE("alone on its cores a process never polls") {
  Process process(Waits::automatic, two_on_two);
  CHECK(process.live(alone, 60'000) == 0);
  CHECK(process.decision.changes() == 0);
}

TEST_CASE("a neighbour that comes and goes is followed") {
  Process process(Waits::automatic, two_on_two);
  process.live(alone, 2000);
  CHECK(process.live(beside_busy_process, 5000) > 4900);
  process.live(alone, 1000);
  CHECK(process.live(alone, 5000) == 0);
  CHECK(process.live(beside_busy_process, 5000) > 4900);
  CHECK(process.decision.changes() == 3);
}

TEST_CASE("where only polling keeps others away, spinning is tried ever more seldom") {
  Process process(Waits::automatic, two_on_two);
  process.live(calm_while_polling, 60'000);
  const int changes = process.decision.changes();
  CHECK(changes >= 10);
  CHECK(process.live(calm_while_polling, 60'000) > 59'000);
  CHECK(process.decision.changes() - changes <= 14);
}

TEST_CASE("phases of a program that computes and communicates are no neighbour") {
  // While it computes it does not call MPI, so nobody looks: stretches are longer, and the rate is what counts.
  Process process(Waits::automatic, two_on_two);
  for (int phase = 0; phase < 200; ++phase) {
    process.live(alone, 10);
    process.rest(alone, 300);
  }
  CHECK(process.decision.changes() == 0);
  for (int phase = 0; phase < 20; ++phase) {
    process.live(beside_busy_process, 10);
    process.rest(beside_busy_process, 300);
  }
  CHECK(process.decision.polls());
}

TEST_CASE("noise makes no rank waver") {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto noisy = [&](double rate) {
      return World{rate * (random() % 200) / 100, rate * (random() % 200) / 100};
    };
    Process quiet(Waits::automatic, two_on_two), beside(Waits::automatic, two_on_two);
    int polled_quiet = 0, polled_beside = 0;
    for (int i = 0; i < 30'000; ++i) {
      polled_quiet += quiet.live(noisy(10), 1);
      polled_beside += beside.live(noisy(300), 1);
    }
    CHECK(polled_quiet == 0);
    CHECK(polled_beside > 29'000);
    CHECK(beside.decision.changes() == 1);
  }
}

TEST_CASE("a neighbour that comes and goes every second is followed within a tenth of the time") {
  Process process(Waits::automatic, two_on_two);
  int right = 0;
  for (int second = 0; second < 60; ++second) {
    const bool beside = second % 2 == 1;
    const int polled = process.live(beside ? beside_busy_process : alone, 1000);
    right += beside ? polled : 1000 - polled;
  }
  CHECK(right > 54'000);
}

TEST_CASE("a few switches by chance are no contention") {
  Process process(Waits::automatic, two_on_two);
  Decision decision(Waits::automatic, two_on_two);
  decision.observe({.wall_ns = 1, .cpu_ns = 0, .involuntary = 0});
  decision.observe({.wall_ns = 25 * ms, .cpu_ns = 25 * ms, .involuntary = 2});
  CHECK_FALSE(decision.polls());
  decision.observe({.wall_ns = 50 * ms, .cpu_ns = 50 * ms, .involuntary = 7});
  CHECK_FALSE(decision.polls());
  decision.observe({.wall_ns = 75 * ms, .cpu_ns = 75 * ms, .involuntary = 8});
  CHECK_FALSE(decision.polls());
  decision.observe({.wall_ns = 100 * ms, .cpu_ns = 100 * ms, .involuntary = 13});
  CHECK_FALSE(decision.polls());
  decision.observe({.wall_ns = 125 * ms, .cpu_ns = 125 * ms, .involuntary = 18});
  CHECK(decision.polls());
}

TEST_CASE("a process that has not run says nothing") {
  Decision decision(Waits::automatic, two_on_two);
  decision.observe({.wall_ns = 1, .cpu_ns = 5, .involuntary = 5});
  decision.observe({.wall_ns = 100 * ms, .cpu_ns = 5, .involuntary = 5});
  CHECK_FALSE(decision.polls());
}

TEST_CASE("counters are due once a stretch is over") {
  Decision decision(Waits::automatic, two_on_two);
  CHECK(decision.is_due(100 * ms));
  decision.observe({.wall_ns = 100 * ms, .cpu_ns = 0, .involuntary = 0});
  CHECK_FALSE(decision.is_due(119 * ms));
  CHECK(decision.is_due(120 * ms));
  CHECK_FALSE(Decision(Waits::yield, two_on_two).is_due(100 * ms));
}
