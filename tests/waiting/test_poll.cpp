// How a wait asks, yields and sleeps.
#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

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
    CHECK(poll([&](int* flag) { return *flag = ++asked == needed, 0; }, 0) == 0);
    CHECK(asked == needed);
    asked = 0;
    CHECK(poll([&](int*) { return ++asked == needed ? 17 : 0; }, never_sleeps) == 17);
    CHECK(asked == needed);
  }
}

TEST_CASE("a wait sleeps only once it is as long as it must be") {
  // Voluntary context switches: a sleep is one.
  const auto sleeps = [] {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
  };
  const auto slept = [&](std::uint64_t sleeps_after) {
    const long before = sleeps();
    int asked = 0;
    poll([&](int* flag) { return *flag = ++asked == 500, 0; }, sleeps_after);
    return sleeps() - before;
  };
  CHECK(slept(0) > 0);
  CHECK(slept(never_sleeps) == 0);
}

TEST_CASE("pauses leave errno and the thread's timer slack alone") {
  errno = 1234;
  const int slack = prctl(PR_GET_TIMERSLACK);
  int asked = 0;
  poll([&](int* flag) { return *flag = ++asked == 1000, 0; }, 0);
  CHECK(errno == 1234);
  CHECK(prctl(PR_GET_TIMERSLACK) == slack);
}
