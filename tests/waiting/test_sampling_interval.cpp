// How often counters are looked at, by how long calls take.
#include <doctest/doctest.h>

#include "waiting/sampling_interval.hpp"

using wherry::waiting::SamplingInterval;

namespace {

constexpr std::uint64_t us = 1'000, ms = 1'000'000;

/// After many looks at calls that take so long.
SamplingInterval settled(std::uint64_t call_ns) {
  SamplingInterval interval;
  for (int i = 0; i < 50; ++i) interval.adapt(static_cast<std::uint64_t>(interval.calls() + 1) * call_ns);
  return interval;
}

}  // namespace

TEST_CASE("short calls are looked at seldom, long ones each time") {
  CHECK(settled(1 * us).calls() == SamplingInterval::most_calls);
  CHECK(settled(10 * ms).calls() == 1);
  const int calls = settled(50 * us).calls();
  CHECK(calls >= 10);
  CHECK(calls <= 20);
}

TEST_CASE("calls that become long are looked at each time after one long interval") {
  SamplingInterval interval = settled(1 * us);
  interval.adapt(SamplingInterval::most_calls * 3 * ms);
  CHECK(interval.calls() == 1);
}

TEST_CASE("in a trial, calls that become long a thousandfold pass for no more than three of them") {
  SamplingInterval interval = settled(1 * us);
  interval.shorten();
  const std::uint64_t unseen_ns = static_cast<std::uint64_t>(interval.calls() + 1) * 4 * ms;
  CHECK(unseen_ns <= 12 * ms);
  interval.adapt(unseen_ns);
  CHECK(interval.calls() == 1);
}
