// What ranks of a host tell each other in memory that they share.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "waiting/host_trials.hpp"

using namespace wherry::waiting;

TEST_CASE("who wants a trial while one goes on takes part in it") {
  HostTrials trials;
  CHECK_FALSE(trials.has_begun());
  CHECK_FALSE(trials.is_on(0));
  CHECK(trials.join(100, 105) == 105);
  CHECK(trials.has_begun());
  CHECK(trials.is_on(104));
  CHECK_FALSE(trials.is_on(105));
  CHECK(trials.join(103, 108) == 105);
  CHECK(trials.join(105, 110) == 110);
}

TEST_CASE("a result ends the trial, and is known until the next one") {
  HostTrials trials;
  CHECK(trials.last() == HostTrials::Result{});
  trials.join(100, 105);
  trials.end({123, true});
  CHECK(trials.last() == HostTrials::Result{123, true});
  CHECK_FALSE(trials.is_on(101));
  trials.join(110, 114);
  CHECK(trials.last() == HostTrials::Result{123, true});
  trials.end({456, false});
  CHECK(trials.last() == HostTrials::Result{456, false});
}

TEST_CASE("what ranks brought in a pair is added") {
  HostTrials trials;
  CHECK_FALSE(trials.sum(7).has_value());
  trials.add(7, {2.5F, 1e6F});
  trials.add(7, {0, 3e6F});
  CHECK(trials.sum(7)->spun == doctest::Approx(2.5).epsilon(1e-4));
  CHECK(trials.sum(7)->polled == doctest::Approx(4e6).epsilon(1e-4));
  CHECK_FALSE(trials.sum(8).has_value());
  CHECK_FALSE(trials.sum(7 + 8).has_value());
  trials.add(7 + 8, {1, 0});
  CHECK(trials.sum(7 + 8)->spun == doctest::Approx(1));
  CHECK(trials.sum(7 + 8)->polled == 0);
  CHECK_FALSE(trials.sum(7).has_value());
}

TEST_CASE("the last time that a rank was disturbed is known, in whichever order ranks tell") {
  HostTrials trials;
  CHECK(trials.last_disturbed_ns() == 0);
  trials.disturbed(50);
  trials.disturbed(40);
  CHECK(trials.last_disturbed_ns() == 50);
}

TEST_CASE("threads that tell at once lose nothing") {
  HostTrials trials;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 5'000; ++j) trials.add(3, {1, 2});
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(trials.sum(3)->spun == 20'000);
  CHECK(trials.sum(3)->polled == 40'000);
}

TEST_CASE("processes that map the same number share, until it is hidden") {
  const std::uint64_t number = new_host_number();
  REQUIRE(number != 0);
  HostTrials* const here = map_host_trials(number);
  REQUIRE(here != nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    HostTrials* const there = map_host_trials(number);
    if (there != nullptr) there->end({99, true});
    ::_exit(there != nullptr ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(here->last() == HostTrials::Result{99, true});
  hide_host_trials(number);
  hide_host_trials(number);
  HostTrials* const other = map_host_trials(number);
  REQUIRE(other != nullptr);
  hide_host_trials(number);
  CHECK(other->last() == HostTrials::Result{});
}

TEST_CASE("without a number nothing is shared") { CHECK(map_host_trials(0) == nullptr); }
