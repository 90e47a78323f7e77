// Whether blocking calls spin or poll, in worlds of recorded counters.
#include <doctest/doctest.h>

#include <random>

#include "waiting/decision.hpp"
#include "worlds.hpp"

using namespace wherry;
using namespace wherry::waiting;

TEST_CASE("what is asked for is done, whatever is counted") {
  for (const World& world : {alone, sharing_a_core, beside_a_stranger}) {
    CHECK(Process(WaitMode::spin, two_on_two).live(world, 1000) == 0);
    CHECK(Process(WaitMode::yield, two_on_two).live(world, 1000) == 1000);
  }
}

TEST_CASE("more ranks than cores poll from the first call on, and for good") {
  for (const int ranks : {3, 4, 8}) {
    const Situation crowded{.ranks_on_host = ranks, .cores = 2, .library_yields = false};
    CHECK(is_crowded(crowded));
    CHECK(Process(WaitMode::automatic, crowded).live(alone, 1000) == 1000);
  }
  CHECK(is_crowded({.ranks_on_host = 2, .cores = 1.5, .library_yields = false}));  // by a quota
}

TEST_CASE("what is unknown is not crowded") {
  CHECK_FALSE(is_crowded({.ranks_on_host = 0, .cores = 2, .library_yields = false}));
  CHECK_FALSE(is_crowded({.ranks_on_host = 8, .cores = 0, .library_yields = false}));
  CHECK_FALSE(is_crowded(two_on_two));
}

TEST_CASE("a library that yields by itself where there are more ranks than cores waits natively there") {
  const Situation crowded{.ranks_on_host = 4, .cores = 2, .library_yields = true};
  Process process(WaitMode::automatic, crowded);
  CHECK(process.live(sharing_a_core, 1000) == 0);
  CHECK_FALSE(process.decision.adapts());
  CHECK(Process(WaitMode::yield, crowded).live(alone, 100) == 100);
}

TEST_CASE("a library that yields by itself sees no other processes") {
  Situation alone_on_cores = two_on_two;
  alone_on_cores.library_yields = true;
  CHECK(Process(WaitMode::automatic, alone_on_cores).live(sharing_a_core, 1000) > 0);
}

TEST_CASE("alone on its cores a process never polls") {
  Process process(WaitMode::automatic, two_on_two);
  CHECK(process.live(alone, 60'000) == 0);
  CHECK(process.decision.trials() == 0);
}

TEST_CASE("the delay is looked at only where others may want the core, and while it polls") {
  Process process(WaitMode::automatic, two_on_two);
  for (int i = 0; i < 1000; ++i) {
    process.live(alone, 1);
    CHECK_FALSE(process.decision.wants_delay());
  }
  process.live(sharing_a_core, 25);
  CHECK(process.decision.wants_delay());
  process.live(sharing_a_core, 1000);
  CHECK(process.decision.polls());
  CHECK(process.decision.wants_delay());
  process.live(alone, 1000);
  CHECK_FALSE(process.decision.wants_delay());
}

TEST_CASE("others that take little are no reason to try anything") {
  for (const World& world : {short_daemons, printing}) {
    Process process(WaitMode::automatic, two_on_two);
    INFO(world.name);
    CHECK(process.live(world, 60'000) == 0);
    CHECK(process.decision.trials() == 0);
  }
}

TEST_CASE("the delay of a thread says nothing of another one that calls MPI later") {
  for (const bool alternate : {false, true}) {
    Decision decision(WaitMode::automatic, two_on_two);
    Counters now;
    for (std::uint64_t stretch = 1; stretch <= 8; ++stretch) {
      now.wall_ns += 2 * Decision::shortest_stretch_ns;
      now.cpu_ns = now.wall_ns;
      now.involuntary = now.wall_ns / ms;
      now.thread = alternate ? 1 + stretch % 2 : 1;
      now.delay_ns = 0;
      now.calls += 1000;
      decision.observe(now);
    }
    INFO("other threads in turns: ", alternate);
    CHECK(decision.is_trying() == alternate);
  }
}

TEST_CASE("where the delay is not known, switches alone are reason for a trial, and its result counts") {
  Process process(WaitMode::automatic, two_on_two, false);
  CHECK(process.live(short_daemons, 60'000) < 1000);
  CHECK(process.decision.trials() > 0);
  CHECK(Process(WaitMode::automatic, two_on_two, false).live(sharing_a_core, 60'000) > 59'000);
}

TEST_CASE("the rank that is waited for gets the core within two tenths of a second") {
  Process process(WaitMode::automatic, two_on_two);
  process.live(sharing_a_core, 200);
  CHECK(process.live(sharing_a_core, 800) == 800);
  CHECK(process.live(sharing_a_core, 60'000) > 59'000);
  CHECK(process.calls() > 0.97 * 61'000 * sharing_a_core.polling.calls);
}

TEST_CASE("a stranger gets no more of the core than the kernel gives it") {
  Process process(WaitMode::automatic, two_on_two);
  CHECK(process.live(beside_a_stranger, 60'000) < 60'000 / 100);
  CHECK(process.calls() > 0.99 * 60'000 * beside_a_stranger.spinning.calls);
}

TEST_CASE("where a stranger takes most of what polling gives away, a trial ends after half of its turns") {
  const World ping_pong{"ping-pong", {160, 0.4, 1000}, {300, 0.9, 1}};
  Process process(WaitMode::automatic, two_on_two);
  CHECK(process.live(ping_pong, 1000) < 30);
  CHECK(process.decision.trials() == 1);
}

TEST_CASE("what a trial found can be asked, while it goes on and when it is over") {
  const World gains{"gains", {160, 0.3, 100}, {300, 0.6, 150}};
  Process process(WaitMode::automatic, two_on_two);
  CHECK(process.decision.trial_result().rates.pairs() == 0);
  while (process.decision.trial_result().rates.pairs() == 0) process.live(gains, 1);
  CHECK(!process.decision.trial_result().polling_won.has_value());
  process.live(gains, 2000);
  const WaitTrialResult found = process.decision.trial_result();
  REQUIRE(found.polling_won.has_value());
  CHECK(*found.polling_won);
  CHECK(found.rates.pairs() >= Decision::pairs_of_trial);
  CHECK(found.rates.mean_polled() / found.rates.mean_spun() == doctest::Approx(1.5).epsilon(0.02));
}

TEST_CASE("whether a trial goes on can be asked") {
  Process process(WaitMode::automatic, two_on_two);
  process.live(alone, 100);
  CHECK_FALSE(process.decision.is_trying());
  process.live(sharing_a_core, 70);
  CHECK(process.decision.is_trying());
  process.live(sharing_a_core, 200);
  CHECK_FALSE(process.decision.is_trying());
}

TEST_CASE("a neighbor that comes and goes is followed") {
  Process process(WaitMode::automatic, two_on_two);
  process.live(alone, 2000);
  CHECK(process.live(sharing_a_core, 5000) > 4750);
  process.live(alone, 1000);
  CHECK(process.live(alone, 5000) == 0);
  CHECK(process.live(sharing_a_core, 5000) > 4750);
}

TEST_CASE("where only polling keeps others away, spinning is tried ever more seldom") {
  Process process(WaitMode::automatic, two_on_two);
  process.live(calm_while_polling, 60'000);
  const int trials = process.decision.trials();
  CHECK(trials >= 5);
  CHECK(process.live(calm_while_polling, 60'000) > 59'000);
  CHECK(process.decision.trials() - trials <= 7);
}

TEST_CASE("trials that do not tell follow each other soon, however long polling was kept before") {
  Process process(WaitMode::automatic, two_on_two);
  process.live(calm_while_polling, 60'000);
  std::mt19937 random(5);
  const auto trials_in = [&](int milliseconds) {
    const int before = process.decision.trials();
    for (int i = 0; i < milliseconds; ++i) {
      const Counted counted{160, 0.3, 100.0 * static_cast<double>(random() % 200)};
      process.live({"unclear", counted, counted}, 1);
    }
    return process.decision.trials() - before;
  };
  trials_in(12'000);  // what polling has won is over
  CHECK(trials_in(20'000) >= 8);
}

TEST_CASE("phases of a program that computes and communicates are no neighbor") {
  // While it computes it does not call MPI, so nobody looks: stretches are longer, and the rate is what counts.
  Process process(WaitMode::automatic, two_on_two);
  for (int phase = 0; phase < 200; ++phase) {
    process.live(alone, 10);
    process.rest(alone, 300);
  }
  CHECK(process.decision.trials() == 0);
  for (int phase = 0; phase < 40; ++phase) {
    process.live(sharing_a_core, 10);
    process.rest(sharing_a_core, 300);
  }
  CHECK(process.decision.polls());
}

TEST_CASE("noise makes no rank waver") {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto noisy = [&](World world) {
      const double factor = static_cast<double>(random() % 200) / 100;
      for (Counted* counted : {&world.spinning, &world.polling}) {
        counted->switches *= factor;
        counted->calls *= 0.5 + static_cast<double>(random() % 100) / 100;
      }
      return world;
    };
    Process quiet(WaitMode::automatic, two_on_two), beside(WaitMode::automatic, two_on_two),
        stranger(WaitMode::automatic, two_on_two);
    int polled_quiet = 0, polled_beside = 0, polled_stranger = 0;
    for (int i = 0; i < 30'000; ++i) {
      polled_quiet += quiet.live(noisy(alone), 1);
      polled_beside += beside.live(noisy(sharing_a_core), 1);
      polled_stranger += stranger.live(noisy(beside_a_stranger), 1);
    }
    CHECK(polled_quiet == 0);
    CHECK(polled_beside > 29'000);
    CHECK(polled_stranger < 600);
  }
}

TEST_CASE("phases with more and fewer calls do not decide a trial") {
  // As many calls either way, but ten times as many in every other phase of a length that fits no stretch.
  World fast = beside_a_stranger, slow = beside_a_stranger;
  fast.polling.calls = 0.8 * (fast.spinning.calls = 100);
  slow.polling.calls = 0.8 * (slow.spinning.calls = 10);
  for (const int length : {1, 3, 7, 11, 13, 20, 50, 300, 1000}) {
    CAPTURE(length);
    Process process(WaitMode::automatic, two_on_two);
    int polled = 0;
    for (int at = 0; at < 60'000; at += length)
      polled += process.live(at / length % 2 == 0 ? fast : slow, length);
    CHECK(polled < 6000);
  }
}

TEST_CASE("a neighbor that comes and goes every second is followed within a tenth of the time") {
  Process process(WaitMode::automatic, two_on_two);
  int right = 0;
  for (int second = 0; second < 60; ++second) {
    const bool beside = second % 2 == 1;
    const int polled = process.live(beside ? sharing_a_core : alone, 1000);
    right += beside ? polled : 1000 - polled;
  }
  CHECK(right > 54'000);
}

TEST_CASE("a few switches by chance are no contention") {
  Decision decision(WaitMode::automatic, two_on_two);
  int stretch = 0;
  std::uint64_t switches = 0;
  const auto observe = [&](std::uint64_t more) {
    ++stretch;
    switches += more;
    const std::uint64_t now_ns = static_cast<std::uint64_t>(stretch) * 25 * ms;
    decision.observe({.wall_ns = now_ns, .cpu_ns = now_ns, .involuntary = switches});
    return decision.trials();
  };
  for (const std::uint64_t more : {0, 2, 5, 5, 1, 5, 5}) CHECK(observe(more) == 0);
  CHECK(observe(5) == 1);
}

TEST_CASE("a process that has not run says nothing") {
  Decision decision(WaitMode::automatic, two_on_two);
  decision.observe({.wall_ns = 1, .cpu_ns = 5, .involuntary = 5});
  decision.observe({.wall_ns = 100 * ms, .cpu_ns = 5, .involuntary = 5});
  CHECK_FALSE(decision.polls());
}

TEST_CASE("counters are due once a stretch is over") {
  Decision decision(WaitMode::automatic, two_on_two);
  CHECK(decision.is_due(100 * ms));
  decision.observe({.wall_ns = 100 * ms, .cpu_ns = 0, .involuntary = 0});
  CHECK_FALSE(decision.is_due(119 * ms));
  CHECK(decision.is_due(120 * ms));
  CHECK_FALSE(Decision(WaitMode::yield, two_on_two).is_due(100 * ms));
}
