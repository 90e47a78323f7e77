#include "heap/freed_memory.hpp"

#include <doctest/doctest.h>

#include <random>

using wherry::heap::Bounds;
using wherry::heap::FaultSample;
using wherry::heap::Freed;
using wherry::heap::FreedMemory;

namespace {

constexpr double fault_ns = 500;
constexpr std::uint64_t ms = 1'000'000;

/// A process that is looked at every 2 ms. Faults on memory that it had before cost it time: with fewer, more calls get
/// done.
struct World {
  explicit World(const Bounds& its = {}) : bounds(its), decision(fault_ns, its) {}

  Bounds bounds;
  std::mt19937 random{42};
  FaultSample now{.at_ns = ms, .faults = 5000, .peak_bytes = std::uint64_t{20} << 20, .calls = 0};
  FreedMemory decision;
  int switches = 0;

  /// repeated: faults in a stretch as malloc has it; kept: those that are left when it keeps memory.
  Freed stretch(std::uint64_t repeated, std::uint64_t kept, std::uint64_t fresh = 0,
                std::uint64_t calls = 4) {
    const bool keeps = decision.state() == Freed::kept;
    now.at_ns += 2 * ms;
    now.faults += (keeps ? kept : repeated) + fresh;
    now.peak_bytes += fresh * 4096;
    now.calls += calls;
    const Freed before = decision.state();
    const Freed after = decision.next(now);
    switches += after != before;
    return after;
  }
  Freed stretches(int count, std::uint64_t repeated, std::uint64_t kept, std::uint64_t fresh = 0,
                  std::uint64_t calls = 4) {
    Freed last = decision.state();
    for (int i = 0; i < count; ++i) last = stretch(repeated, kept, fresh, calls);
    return last;
  }
  /// As many stretches as a decision takes, and a few more.
  int enough(int more) const { return static_cast<int>(bounds.stretches) + more; }
};

constexpr Bounds tried[] = {Bounds{}, wherry::heap::in_programs};

}  // namespace

TEST_CASE("freed memory: kept where each step faults anew, within 30 ms, and 46 in programs") {
  for (const Bounds& bounds : tried) {
    World world(bounds);
    CHECK(world.stretches(world.enough(7), 1000, 0) == Freed::kept);  // a quarter of the time
    CHECK(world.stretches(2000, 1000, 0) == Freed::kept);
    CHECK(world.switches == 1);
  }
}

TEST_CASE("freed memory: few faults are left alone") {
  for (const Bounds& bounds : tried) {
    World world(bounds);
    CHECK(world.stretches(3000, 100, 0) == Freed::returned);  // 2.5%
    CHECK(world.switches == 0);
  }
}

TEST_CASE("freed memory: first touches are no reason, however many") {
  for (const Bounds& bounds : tried) {
    World world(bounds);
    CHECK(world.stretches(2000, 0, 0, 3000) == Freed::returned);  // start-up faults and heaps that grow
    CHECK(world.switches == 0);
    CHECK(world.stretches(50, 1000, 0, 10) == Freed::kept);
  }
}

TEST_CASE("freed memory: bursts now and then are no reason") {
  World world;
  for (int i = 0; i < 500; ++i) {
    world.stretches(1, 3000, 0);
    world.stretches(9, 0, 0);
  }
  CHECK(world.switches == 0);
}

TEST_CASE(
    "freed memory: steps that fault now and then are a reason in programs, if they do for 5% of the time") {
  for (const std::uint64_t faults : {3000, 1000}) {  // 7.5% and 2.5%
    CAPTURE(faults);
    World world(wherry::heap::in_programs);
    for (int i = 0; i < 500; ++i) {
      world.stretches(1, faults, 0);
      world.stretches(9, 0, 0);
    }
    CHECK(world.decision.state() == (faults == 3000 ? Freed::kept : Freed::returned));
    CHECK(world.switches == (faults == 3000 ? 1 : 0));
  }
}

TEST_CASE("freed memory: nothing before the program has made its first calls") {
  for (const Bounds& bounds : tried) {
    World world(bounds);
    CHECK(world.stretches(100, 2000, 0, 0, 0) == Freed::returned);
    CHECK(world.stretches(world.enough(2), 2000, 0, 0, 4) == Freed::kept);
  }
}

TEST_CASE("freed memory: taken back where the faults stay, tried again ever more rarely") {
  for (const Bounds& bounds : tried) {
    World world(bounds);
    world.stretches(60, 1000, 1000);
    CHECK(world.decision.state() == Freed::taken_back);
    CHECK(world.stretches(500, 1000, 1000) == Freed::taken_back);  // a second: too early
    world.stretches(30000, 1000, 1000);                            // a minute
    CHECK(world.switches <= 2 * 6);
  }
}

TEST_CASE("freed memory: taken back where the program gets slower for it") {
  for (const Bounds& bounds : tried) {
    World world(bounds);
    world.stretches(world.enough(4), 1000, 400, 0, 10);
    REQUIRE(world.decision.state() == Freed::kept);
    CHECK(world.stretches(static_cast<int>(bounds.settling) + 32, 1000, 400, 0, 4) == Freed::taken_back);
  }
}

TEST_CASE("freed memory: another phase of the program is not blamed on it") {
  for (const Bounds& bounds : tried) {
    World world(bounds);
    world.stretches(world.enough(4), 1000, 0, 0, 10);
    REQUIRE(world.decision.state() == Freed::kept);
    CHECK(world.stretches(100, 0, 0, 0, 1) == Freed::kept);
  }
}

TEST_CASE("freed memory: noise does not make it waver") {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U}) {
    CAPTURE(seed);
    World world(tried[seed % 2]);
    world.random.seed(seed);
    for (int i = 0; i < 5000; ++i) {
      const std::uint64_t noise = world.random() % 400;
      world.stretch(600 + noise, noise / 8, world.random() % 50, 2 + world.random() % 6);
    }
    CHECK(world.decision.state() == Freed::kept);
    CHECK(world.switches == 1);
  }
}

TEST_CASE("freed memory: given up for good when memory is short") {
  World world(wherry::heap::in_programs);
  world.stretches(world.enough(12), 1000, 0);
  REQUIRE(world.decision.state() == Freed::kept);
  CHECK(world.decision.give_up() == Freed::taken_back);
  CHECK(world.stretches(20000, 1000, 0) == Freed::taken_back);
}

TEST_CASE("freed memory: counters that stand still or go back are harmless") {
  FreedMemory decision(fault_ns);
  CHECK(decision.next({.at_ns = 5, .faults = 100, .peak_bytes = 0, .calls = 100}) == Freed::returned);
  for (int i = 0; i < 100; ++i)
    CHECK(decision.next({.at_ns = 5, .faults = 0, .peak_bytes = 0, .calls = 0}) == Freed::returned);
}
