// The clock that watches calls: by ticks of the processor, or in the steps of the kernel's coarse clock.
#include "profile/watch_clock.hpp"

#include <doctest/doctest.h>

using namespace wherry::profile;

TEST_CASE("without ticks it is the kernel's coarse clock") {
  WatchClock clock;
  CHECK_FALSE(clock.counts_ticks());
  const std::uint64_t before = coarse_ns(), now = clock.now_ns();
  CHECK(now >= before);
  CHECK(now <= coarse_ns());
}

TEST_CASE("two moments tell what a tick is worth") {
  WatchClock clock;
  clock.set({1'000, 5'000'000}, {4'000'000, 6'999'500});  // two ticks a nanosecond
  REQUIRE(clock.counts_ticks());
  CHECK(clock.at(4'000'000) == 6'999'500);
  CHECK(clock.at(4'000'000 + 2'000'000'000) == doctest::Approx(6'999'500 + 1e9).epsilon(1e-6));
  // A year at the rate of the fastest processors.
  const std::uint64_t year = std::uint64_t{1} << 57;
  CHECK(static_cast<double>(clock.at(year)) == doctest::Approx(static_cast<double>(year) / 2).epsilon(1e-6));
}

TEST_CASE("of too little time nothing is learned") {
  WatchClock clock;
  clock.set({1'000, 5'000'000}, {2'000, 5'000'000 + WatchClock::shortest_ns - 1});
  CHECK_FALSE(clock.counts_ticks());
  clock.set({2'000'000, 5'000'000}, {1'000'000, 9'000'000});  // the counter was set back
  CHECK_FALSE(clock.counts_ticks());
}

TEST_CASE("a time is known from two steps of the coarse clock on") {
  const std::uint64_t two_steps = coarsely_known_ns(), step = two_steps / 2, begin = 100 * step;
  WatchClock coarse, fine;
  fine.set({0, 0}, {1'000'000, 1'000'000});
  for (const WatchClock& clock : {coarse, fine}) {
    CHECK(clock.knows(begin, begin + two_steps));
    CHECK_FALSE(clock.knows(begin, begin + two_steps - 1));
    CHECK_FALSE(clock.knows(begin, begin));
    CHECK_FALSE(clock.knows(begin, begin - 1));  // another core's counter may be some ticks behind
    CHECK(clock.would_know(begin, begin + two_steps));
  }
  // The coarse clock may have made two steps, or only one.
  CHECK(coarse.would_know(begin, begin + two_steps + step - 1));
  CHECK_FALSE(coarse.would_know(begin + 1, begin + two_steps - 1));
  CHECK_FALSE(fine.would_know(begin + 1, begin + two_steps));
}

TEST_CASE("a time is carried over to the exact clock, where it ends now") {
  std::uint64_t enter_ns = 500, leave_ns = 9'000'500;
  const std::uint64_t before = monotonic_ns();
  WatchClock::to_exact(enter_ns, leave_ns);
  CHECK(leave_ns - enter_ns == 9'000'000);
  CHECK(leave_ns >= before);
  CHECK(leave_ns <= monotonic_ns());
}

TEST_CASE("here it agrees with the kernel's clock") {
  if (!has_steady_ticks()) {
    MESSAGE("the kernel keeps time by another clock than the processor's");
    return;
  }
  const WatchClock::Moment first = WatchClock::now();
  WatchClock::Moment second = first;
  while (second.ns < first.ns + 5'000'000) second = WatchClock::now();
  WatchClock clock;
  clock.set(first, second);
  REQUIRE(clock.counts_ticks());
  // Between two readings of the other one, but for what the first 5 ms leave open: a thousandth.
  const std::uint64_t before = monotonic_ns(), now = clock.now_ns(), after = monotonic_ns();
  const std::uint64_t slack = 10'000 + (after - first.ns) / 1000;
  CHECK(now + slack >= before);
  CHECK(now <= after + slack);
}
