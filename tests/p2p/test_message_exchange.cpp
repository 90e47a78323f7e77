#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "p2p/copier_choices.hpp"
#include "p2p/message_exchange.hpp"

namespace wherry::p2p {
namespace {

struct Times {
  std::uint64_t native, kernels;  // of an exchange
};

/// An exchange of so many messages, the first of which has the key; how it begins. Where that is native,
/// the others are not asked about.
Exchange::Turn exchange_of(Exchange& exchange, std::uint64_t key, std::size_t messages, const Times& times) {
  const Exchange::Turn first = exchange.join(key);
  for (std::size_t i = 1; i < messages && !first.is_native; ++i) {
    const Exchange::Turn other = exchange.join(key + i);
    REQUIRE(other.is_ours == first.is_ours);
    REQUIRE(other.is_timed == first.is_timed);
    REQUIRE(other.is_followed == first.is_followed);
  }
  if (first.is_followed) exchange.left(messages, first.is_ours ? times.kernels : times.native);
  REQUIRE_FALSE(exchange.is_open());
  return first;
}

struct Run {
  int ours = 0, timed = 0, found = 0;
  Exchange::Turn last;
};

Run run(Exchange& exchange, int exchanges, std::size_t messages, const Times& times) {
  Run run;
  for (int i = 0; i < exchanges; ++i) {
    run.last = exchange_of(exchange, 1, messages, times);
    run.ours += run.last.is_ours ? 1 : 0;
    run.timed += run.last.is_timed ? 1 : 0;
    run.found += run.last.found ? 1 : 0;
  }
  return run;
}

}  // namespace

TEST_CASE("an exchange is by the kernels where they are faster, and says so once") {
  for (const auto& [kernels, pairs] : {std::pair{700, 6}, {100, 3}}) {  // half as many where it is clear
    Exchange exchange(LayoutLever::automatic);
    const Run done = run(exchange, 200, 4, {.native = 1000, .kernels = static_cast<std::uint64_t>(kernels)});
    CAPTURE(kernels);
    CHECK(done.last.is_ours);
    CHECK(done.last.is_followed);
    CHECK_FALSE(done.last.is_timed);
    CHECK(done.timed == 2 * pairs);
    CHECK(done.ours == pairs + 200 - 2 * pairs);
    CHECK(done.found == 1);
  }
}

TEST_CASE("where the library is faster, its messages are not followed") {
  for (const auto& [kernels, pairs] : {std::pair{150, 4}, {1000, 2}}) {  // half as many where it is clear
    Exchange exchange(LayoutLever::automatic);
    const Run done = run(exchange, 200, 4, {.native = 100, .kernels = static_cast<std::uint64_t>(kernels)});
    CAPTURE(kernels);
    CHECK(done.timed == 2 * pairs);
    CHECK(done.ours == pairs);
    CHECK(done.found == 1);
    CHECK(done.last.is_native);
    CHECK_FALSE(done.last.is_followed);
  }
}

TEST_CASE(
    "an exchange of which nothing is followed is not open, and others like it need not be asked about") {
  Exchange exchange(LayoutLever::automatic);
  run(exchange, 20, 1, {.native = 100, .kernels = 1000});
  CHECK(exchange.join(1).is_native);
  CHECK_FALSE(exchange.is_open());
  CHECK(exchange.pass() == 63);
  CHECK(exchange.join(2).is_timed);  // of another kind
  CHECK(exchange.pass() == 0);
}

TEST_CASE(
    "exchanges that are passed count: they are measured again after as many as if each had been asked "
    "about") {
  const Times times{.native = 100, .kernels = 1000};
  const auto until_measured = [&](bool passing) {
    Exchange exchange(LayoutLever::automatic);
    run(exchange, 20, 1, times);
    int exchanges = 0;
    while (!exchange_of(exchange, 1, 1, times).is_timed) exchanges += 1 + (passing ? exchange.pass() : 0);
    return exchanges;
  };
  CHECK(until_measured(true) == until_measured(false));
}

TEST_CASE("an exchange is open until its last message has ended") {
  Exchange exchange(LayoutLever::automatic);
  REQUIRE(exchange.join(1).is_followed);
  CHECK(exchange.is_open());
  CHECK(exchange.is_timed());
  REQUIRE(exchange.join(1).is_followed);
  exchange.left(1, 10);
  CHECK(exchange.is_open());
  exchange.left(1, 10);
  CHECK_FALSE(exchange.is_open());
}

TEST_CASE("the time of an exchange is that of all calls for it") {
  Exchange exchange(LayoutLever::automatic);
  for (int i = 0; i < 6; ++i) {  // three pairs, as the difference is clear
    const bool ours = exchange.join(1).is_ours;
    exchange.join(1);
    exchange.left(0, ours ? 100 : 10);  // the kernels pack in the calls that begin
    exchange.left(1, ours ? 100 : 10);
    exchange.left(1, ours ? 100 : 900);
  }
  const Exchange::Turn next = exchange.join(1);
  REQUIRE(next.found);
  CHECK(next.found->kept == Copier::kernels);
  CHECK(next.found->kernels_ns == 300);
  CHECK(next.found->native_ns == 920);
}

TEST_CASE("what another thread begins meanwhile is native") {
  Exchange exchange(LayoutLever::wherry);
  REQUIRE(exchange.join(1).is_ours);
  Exchange::Turn other;
  std::thread([&] { other = exchange.join(1); }).join();
  CHECK_FALSE(other.is_ours);
  CHECK_FALSE(other.is_followed);
  CHECK_FALSE(other.is_native);  // the next one of this thread may be measured
  exchange.left(1, 0);
  std::thread([&] { other = exchange.join(1); }).join();
  CHECK(other.is_ours);
}

TEST_CASE("an exchange without an end takes no more messages, and decides nothing") {
  Exchange exchange(LayoutLever::automatic);
  std::size_t followed = 0;
  for (int i = 0; i < 10'000; ++i) followed += exchange.join(1).is_followed ? 1 : 0;
  CHECK(followed == 4096);
  exchange.left(followed, 1);
  CHECK_FALSE(exchange.is_open());
  const Run done = run(exchange, 1, 1, {.native = 1, .kernels = 1});
  CHECK(done.found == 0);
  CHECK(done.timed == 1);
}

TEST_CASE("WHERRY_LAYOUT=wherry: the kernels, without measuring") {
  Exchange exchange(LayoutLever::wherry);
  const Run done = run(exchange, 100, 3, {.native = 1, .kernels = 1000});
  CHECK(done.ours == 100);
  CHECK(done.timed == 0);
}

TEST_CASE("calls that need no look are passed by their place, as many as were said") {
  PassedCalls passed;
  constexpr std::uint64_t here = 0x1234567800000000, there = 0x8765432100000000;
  CHECK_FALSE(passed.take(here));
  passed.put(here, 3);
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(passed.take(there));
    CHECK(passed.take(here));
  }
  CHECK_FALSE(passed.take(here));
  CHECK(passed.has_room(here));
  passed.put(here, 1);
  CHECK(passed.has_room(here));
  CHECK_FALSE(passed.has_room(here ^ 64));  // at the same place in the table
  passed.put(there, 2);
  CHECK(passed.take(there));
  CHECK(passed.take(here));
  CHECK_FALSE(passed.take(here));
}

}  // namespace wherry::p2p
