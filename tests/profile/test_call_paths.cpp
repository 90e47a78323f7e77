#include "profile/call_paths.hpp"

#include <doctest/doctest.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <vector>

#include "profile/stack.hpp"

using namespace wherry::profile;

namespace {

#define KEEP [[gnu::noinline, gnu::noclone]]

/// What callers_of() finds of a call whose return address is noted like those of all others.
struct Descent {
  std::vector<const void*> returns = {};  // outermost first
  std::vector<const void*> found = {};
  std::size_t asked = 4;
};

KEEP void look(Descent& descent) {
  descent.found.assign(descent.asked, nullptr);
  descent.found.resize(callers_of(__builtin_return_address(0), descent.found));
}

KEEP int descend_odd(Descent& descent, int depth);

KEEP int descend(Descent& descent, int depth) {
  descent.returns.push_back(__builtin_return_address(0));
  if (depth == 0) look(descent);
  const int below = depth == 0       ? 0
                    : depth % 3 == 1 ? descend_odd(descent, depth - 1)
                                     : descend(descent, depth - 1);
  asm volatile("" ::: "memory");  // no tail call
  return below + 1;
}

KEEP int descend_odd(Descent& descent, int depth) {
  descent.returns.push_back(__builtin_return_address(0));
  volatile char room[200] = {};  // a frame of another size
  const int below = depth == 0 ? 0 : descend(descent, depth - 1);
  if (depth == 0) look(descent);
  return below + room[depth % 200];
}

void check_descent(int depth, std::size_t asked) {
  Descent descent{.asked = asked};
  descend(descent, depth);
  CAPTURE(depth);
  CHECK(descent.found.size() <= asked);
  const std::size_t known = std::min(descent.found.size(), descent.returns.size());
  CHECK(known == std::min(asked, descent.returns.size()));
  CHECK(std::equal(descent.found.begin(), descent.found.begin() + static_cast<long>(known),
                   descent.returns.rbegin()));
}

ucontext_t outside, inside;
Descent on_coroutine;

void run_coroutine() { descend(on_coroutine, 3); }

}  // namespace

TEST_CASE("callers are found innermost first, however deep the stack is") {
  for (const int depth : {0, 1, 2, 5, 30, 2'000}) check_descent(depth, 4);
  for (const std::size_t asked : {0, 1, 3, 24}) check_descent(40, asked);
}

TEST_CASE("callers are found on other threads") {
  std::thread([] { check_descent(10, 4); }).join();
}

TEST_CASE("on a coroutine's stack nothing is looked for") {
  std::vector<char> stack(1 << 18);
  REQUIRE(::getcontext(&inside) == 0);
  inside.uc_stack.ss_sp = stack.data();
  inside.uc_stack.ss_size = stack.size();
  inside.uc_link = &outside;
  ::makecontext(&inside, run_coroutine, 0);
  REQUIRE(::swapcontext(&outside, &inside) == 0);
  CHECK(on_coroutine.returns.size() == 4);
  CHECK(on_coroutine.found.empty());
}

TEST_CASE("a call that is not under way has no callers") {
  std::array<const void*, 4> callers;
  CHECK(callers_of(reinterpret_cast<const void*>(&std::snprintf), callers) == 0);
}

TEST_CASE("each call is looked at or stood for, and looking costs a bounded part of the calls' time") {
  constexpr std::uint64_t ns_each = 1000;
  for (const std::uint64_t time_ns : {0, 1, 10, 100, 5000}) {
    CAPTURE(time_ns);
    PathSampling sampling(ns_each);
    CHECK(sampling.due(7, 3, time_ns) == 3);  // the first
    std::uint64_t looks = 1, stood_for = 0, calls = 0;
    for (; calls < 100'000; ++calls)
      if (const std::uint64_t weight = sampling.due(7, 1, time_ns); weight > 0) {
        ++looks;
        stood_for += weight;
      }
    CHECK(stood_for <= calls);
    CHECK(calls - stood_for < 2 * PathSampling::largest_gap);
    // Each doubling has so many, a largest gap one, and what is more is paid for; gaps are random and powers of two.
    const std::uint64_t few = 17 * 2 * PathSampling::share + 4 * calls / PathSampling::largest_gap;
    CHECK(looks <= few + 4 * calls * time_ns / ns_each);
    CHECK(looks >= 17);
    CHECK(sampling.due(8, 1, time_ns) == 1);  // the first of another place
  }
}

TEST_CASE("callers that take turns are told apart in proportion") {
  PathSampling sampling(100'000);
  constexpr int period = 8;  // a power of two
  std::array<std::uint64_t, period> calls{};
  constexpr std::uint64_t all = 200'000;
  for (std::uint64_t i = 0; i < all; ++i) calls[i % period] += sampling.due(0, 1, 10'000);
  for (const std::uint64_t each : calls) CHECK(each * period == doctest::Approx(all).epsilon(0.1));
}

TEST_CASE("of callers that take turns in few calls each has nearly its part") {
  PathSampling sampling(1'000'000);
  constexpr std::uint32_t places = 200, calls = 120;
  for (std::uint32_t place = 0; place < places; ++place) {
    std::array<double, 2> found{};
    for (std::uint32_t i = 0; i < calls; ++i)
      found[i % 2] += static_cast<double>(sampling.due(place, 8, 80'000));
    CAPTURE(place);
    CHECK(found[0] / (found[0] + found[1]) == doctest::Approx(0.5).epsilon(0.25));
  }
}

TEST_CASE("a path ends where the C library calls main") {
  Sites sites;
  CallPaths paths(sites);
  const auto* const here = __builtin_return_address(0);
  const auto frames = paths.path(sites.find(here));
  REQUIRE(frames.size() >= 1);
  CHECK(frames.size() <= path_frames);
  for (const PathFrame& frame : frames) {
    CHECK(frame.kind == FrameKind::native);
    CHECK(sites.modules()[frame.module].path.find("test_profile") != std::string::npos);
  }
}
