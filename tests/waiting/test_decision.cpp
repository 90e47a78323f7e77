// Whether blocking calls spin or poll, in worlds of recorded counters.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>

#include "waiting/decision.hpp"

using namespace wherry;
using namespace wherry::waiting;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr Situation two_on_two{.ranks_on_host = 2, .cores = 2, .library_yields = false};

/// What a process counts in one of the two ways to wait: involuntary switches in a second of its own time and the share
/// of the time without a core, as measured on two cores under Linux 6, and its blocking calls in a millisecond.
struct Counted {
  double switches;
  double delay;
  double calls = 100;
};
struct World {
  std::string name;
  Counted spinning, polling;
};
const World alone{"alone", {10, 0.001}, {5, 0.001}};
/// The rank that is waited for has to have this core.
const World sharing_a_core{"sharing a core", {160, 0.5, 1}, {4000, 0.3, 50}};
/// The rank that is waited for has a core; what wants this one is another program's.
const World beside_a_stranger{"beside a stranger", {160, 0.2, 80}, {300, 0.6, 40}};
/// Others want the core only as long as this process spins: those of its own kind.
const World calm_while_polling{"calm while polling", {200, 0.3, 20}, {2, 0.0, 60}};
/// Many, but each one takes microseconds.
const World short_daemons{"short daemons", {300, 0.01}, {300, 0.01, 90}};

/// A process that is looked at every millisecond.
class Process {
 public:
  explicit Process(WaitMode asked, const Situation& situation, bool has_delay = true)
      : decision(asked, situation), has_delay_(has_delay) {
    step(alone);
  }

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
  void rest(const World& world, int milliseconds) { pass(world, milliseconds, 0); }

  Decision decision;
  double calls() const { return calls_; }

 private:
  void pass(const World& world, int milliseconds, double share_of_calls) {
    const Counted& counted = decision.polls() ? world.polling : world.spinning;
    now_.wall_ns += static_cast<std::uint64_t>(milliseconds) * ms;
    now_.cpu_ns += static_cast<std::uint64_t>(milliseconds) * ms;
    switches_ += milliseconds * counted.switches / 1000;
    delay_ms_ += milliseconds * counted.delay;
    calls_ += milliseconds * counted.calls * share_of_calls;
    now_.involuntary = static_cast<std::uint64_t>(switches_);
    now_.has_delay = has_delay_ && decision.wants_delay();
    now_.delay_ns = now_.has_delay ? static_cast<std::uint64_t>(delay_ms_ * ms) : 0;
    now_.calls = static_cast<std::uint64_t>(calls_);
  }
  void step(const World& world) {
    pass(world, 1, 1);
    decision.observe(now_);
  }

  Counters now_;
  bool has_delay_;
  double switches_ = 0, delay_ms_ = 0, calls_ = 0;
};

}  // namespace

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

TEST_CASE("others that take microseconds are no reason to try anything") {
  Process process(WaitMode::automatic, two_on_two);
  CHECK(process.live(short_daemons, 60'000) == 0);
  CHECK(process.decision.trials() == 0);
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

namespace {

/// Two ranks that wait for each other beside a stranger: the calls that both make in a millisecond, by how many poll.
struct Coupled {
  std::array<double, 3> calls;
  double noise = 0;

  /// Milliseconds that the ranks have polled, in all. lag: of the second rank's trials.
  int live(int milliseconds, int lag_ms) const {
    Process ranks[] = {Process(WaitMode::automatic, two_on_two), Process(WaitMode::automatic, two_on_two)};
    ranks[1].live(alone, lag_ms);
    std::mt19937 random(7);
    int polled = 0;
    for (int i = 0; i < milliseconds; ++i) {
      const int polling = int{ranks[0].decision.polls()} + int{ranks[1].decision.polls()};
      const double factor = 1 + noise * (static_cast<double>(random() % 200) / 100 - 1);
      const Counted counted{160, 0.3, factor * calls.at(static_cast<std::size_t>(polling))};
      for (Process& rank : ranks) polled += rank.live({"coupled", counted, counted}, 1);
    }
    return polled;
  }
};

}  // namespace

TEST_CASE("all that wait by the same clock change at once, each pair in both ways") {
  int first_polls = 0;
  std::set<std::uint64_t> lengths;
  for (std::uint64_t pair = 0; pair < 200; ++pair) {
    const TrialSlot first = slot_at(pair * 25 * ms), second = slot_at(first.end_ns);
    CHECK(first.pair == pair);
    CHECK(second.pair == pair);
    CHECK(first.polls != second.polls);
    CHECK(second.end_ns == (pair + 1) * 25 * ms);
    CHECK(slot_at(first.end_ns - 1).polls == first.polls);
    first_polls += first.polls;
    lengths.insert(first.end_ns - pair * 25 * ms);
  }
  CHECK(first_polls > 70);
  CHECK(first_polls < 130);
  CHECK(lengths.size() >= 8);
  CHECK(*lengths.begin() >= 8 * ms);
  CHECK(*lengths.rbegin() < 18 * ms);
}

TEST_CASE("ranks that slow each other down by polling spin, however their trials lie") {
  for (const int lag_ms : {0, 3, 10, 13, 17, 40}) {
    CAPTURE(lag_ms);
    CHECK(Coupled{.calls = {100, 20, 10}}.live(60'000, lag_ms) < 2 * 60'000 / 60);
    CHECK(Coupled{.calls = {100, 80, 70}, .noise = 0.5}.live(60'000, lag_ms) < 2 * 60'000 / 20);
  }
}

TEST_CASE("ranks that speed each other up by polling poll, also where one alone gains nothing") {
  for (const int lag_ms : {0, 3, 10, 13, 17, 40}) {
    CAPTURE(lag_ms);
    CHECK(Coupled{.calls = {100, 117, 135}, .noise = 0.5}.live(60'000, lag_ms) > 2 * 54'000);
    CHECK(Coupled{.calls = {100, 100, 135}, .noise = 0.5}.live(60'000, lag_ms) > 2 * 54'000);
  }
}

namespace {

/// Calls in a millisecond of ranks that spin: of two rates, each for some milliseconds, at random.
struct Unsteady {
  double fast, slow;
  int fast_ms, slow_ms;
  double polling;

  double spinning() const { return (fast * fast_ms + slow * slow_ms) / (fast_ms + slow_ms); }
  /// Of the calls that it would make by the better way to wait, the share that a process makes.
  double share(int milliseconds, unsigned seed) const {
    Process process(WaitMode::automatic, two_on_two);
    std::mt19937 random(seed);
    bool is_fast = true;
    for (int i = 0; i < milliseconds; ++i) {
      if (random() % static_cast<unsigned>(is_fast ? fast_ms : slow_ms) == 0) is_fast = !is_fast;
      process.live({"unsteady", {160, 0.3, is_fast ? fast : slow}, {300, 0.6, polling}}, 1);
    }
    return process.calls() / milliseconds / std::max(spinning(), polling);
  }
  double mean_share(int milliseconds) const {
    constexpr unsigned seeds = 20;
    double sum = 0;
    for (unsigned seed = 1; seed <= seeds; ++seed) sum += share(milliseconds, seed);
    return sum / seeds;
  }
};

}  // namespace

TEST_CASE("ranks that are fast with a core each and stand still with one together are judged by their mean") {
  constexpr Unsteady spinning_wins{.fast = 500, .slow = 1, .fast_ms = 30, .slow_ms = 20, .polling = 50},
      polling_wins{.fast = 500, .slow = 1, .fast_ms = 10, .slow_ms = 60, .polling = 200};
  CHECK(spinning_wins.mean_share(1000) > 0.8);
  CHECK(spinning_wins.mean_share(20'000) > 0.9);
  CHECK(polling_wins.mean_share(20'000) > 0.9);
}

namespace {

/// Milliseconds of these that a process polls beside others. Calls in a millisecond, which vary from none to twice as
/// many.
int beside(Process& process, std::mt19937& random, int milliseconds, double spinning, double polling) {
  int polled = 0;
  for (int i = 0; i < milliseconds; ++i) {
    const double noise = static_cast<double>(random() % 200) / 100;
    polled += process.live({"beside", {160, 0.3, spinning * noise}, {300, 0.6, polling * noise}}, 1);
  }
  return polled;
}

}  // namespace

TEST_CASE("while trials speak against polling, though not clearly, it spins between them") {
  std::mt19937 random(3);
  int between_trials = 0, polled = 0;
  for (int i = 0; i < 50; ++i) {
    Process process(WaitMode::automatic, two_on_two);
    while (process.decision.trials() == 0) beside(process, random, 1, 100, 70);
    while (process.decision.is_trying()) beside(process, random, 1, 100, 70);
    for (int ms = 0; ms < 50; ++ms, ++between_trials) polled += beside(process, random, 1, 100, 70);
  }
  CHECK(polled < between_trials / 2);
}

TEST_CASE("while trials do not tell, it polls more often than not: one rank that polls alone gains nothing") {
  int polled = 0;
  for (const int lag_ms : {0, 3, 10, 13, 17, 40})
    polled += Coupled{.calls = {100, 100, 110}, .noise = 0.9}.live(500, lag_ms);
  CHECK(polled > 6 * 2 * 500 / 2);
}

TEST_CASE("what trials said of a neighbor that has gone since is forgotten") {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Process process(WaitMode::automatic, two_on_two);
    beside(process, random, 500, 100, 80);
    process.live(alone, 600'000);
    beside(process, random, 2000, 100, 80);
    process.live(alone, 10'000);
    CHECK(beside(process, random, 60'000, 1, 50) > 50'000);
  }
}

TEST_CASE("rates of pairs: fewer than two tell nothing, nor do none") {
  PairedRates rates;
  CHECK_FALSE(rates.differ(1, 0));
  rates.add(1, 5);
  CHECK_FALSE(rates.differ(1, 0));
  PairedRates none;
  for (int i = 0; i < 10; ++i) none.add(0, 0);
  CHECK_FALSE(none.differ(1, 0));
}

TEST_CASE("rates of pairs: by so many standard errors, and by this factor") {
  PairedRates rates;
  for (const double more : {1.0, 2.0, 3.0}) rates.add(10, 10 + more);
  CHECK(rates.pairs() == 3);
  CHECK(rates.polling_is_better());
  // Of differences 1, 2, 3 the standard deviation is 1, and the mean 2 is 2 / (1 / sqrt(3)) = 3.464 errors from 0.
  CHECK(rates.differ(1, 3.4));
  CHECK_FALSE(rates.differ(1, 3.5));
  // 12 against 10.
  CHECK(rates.differ(1.19, 3.4));
  CHECK_FALSE(rates.differ(1.21, 3.4));
}

TEST_CASE("rates of pairs: the side that stands still loses") {
  PairedRates rates;
  for (const double spun : {4.0, 6.0, 5.0, 5.0}) rates.add(spun, 0);
  CHECK(rates.differ(4, 3.5));
  CHECK_FALSE(rates.polling_is_better());
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
