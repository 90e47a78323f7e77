// How a wait asks, yields and sleeps.
#include <doctest/doctest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>

#include "waiting/poll.hpp"

using namespace wherry::waiting;

TEST_CASE("a sleep is short against what was waited for, and bounded") {
  CHECK(sleep_after(0) == shortest_sleep_ns);
  std::uint64_t before = 0;
  for (std::uint64_t waited = 1'000; waited < 1'000'000'000; waited += 1 + waited / 7) {
    const std::uint64_t sleep = sleep_after(waited);
    CHECK(sleep >= before);
    CHECK(sleep <= longest_sleep_ns);
    CHECK(sleep <= std::max(shortest_sleep_ns, waited / 4));
    before = sleep;
  }
  CHECK(before == longest_sleep_ns);
}

TEST_CASE("polling ends with what is asked for, or its error") {
  for (const int needed : {1, 2, polls_before_yield, polls_before_yield + 1, polls_before_yield + 300}) {
    int asked = 0;
    CHECK(poll<Pause::sleeps>([&](int* flag) { return *flag = ++asked == needed, 0; }) == 0);
    CHECK(asked == needed);
    asked = 0;
    CHECK(poll<Pause::yields>([&](int*) { return ++asked == needed ? 17 : 0; }) == 17);
    CHECK(asked == needed);
  }
}

TEST_CASE("pauses leave errno and the thread's timer slack alone") {
  errno = 1234;
  const int slack = prctl(PR_GET_TIMERSLACK);
  int asked = 0;
  poll<Pause::sleeps>([&](int* flag) { return *flag = ++asked == 1000, 0; });
  CHECK(errno == 1234);
  CHECK(prctl(PR_GET_TIMERSLACK) == slack);
}
