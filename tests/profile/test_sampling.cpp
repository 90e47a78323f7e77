#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "profile/sampling.hpp"

using wherry::profile::Sampling;
using wherry::profile::Untimed;
using wherry::profile::Waits;

namespace {

struct Counts {
  std::uint64_t calls = 0, timed = 0, ns = 0;  // ns: what the timed ones stand for
};

/// Calls of one function that take so long: the n-th one ns_of(n).
Counts run(int calls, const std::function<std::uint64_t(int)>& ns_of, std::uint64_t* true_ns = nullptr) {
  Sampling sampling(2);
  sampling.allow(1, Waits::never);
  Counts counts;
  for (int i = 0; i < calls; ++i) {
    const std::uint64_t ns = ns_of(i);
    if (true_ns != nullptr) *true_ns += ns;
    ++counts.calls;
    const std::uint32_t stands_for = sampling.due(1);
    if (stands_for == 0) continue;
    ++counts.timed;
    counts.ns += stands_for * ns;
    sampling.timed(1, ns);
  }
  return counts;
}

}  // namespace

TEST_CASE("sampling: calls that are not cheap are all timed") {
  CHECK(run(10'000, [](int) { return Sampling::cheap_ns; }).timed == 10'000);
}

TEST_CASE("sampling: of cheap ones few are timed, and they stand for all") {
  constexpr int calls = 8 * Sampling::many / 2, after_first = calls - int{Sampling::first};
  constexpr std::uint64_t each_ns = 100;
  const Counts counts = run(calls, [](int) { return each_ns; });
  CHECK(counts.timed > Sampling::first + after_first / 9);
  CHECK(counts.timed < Sampling::first + after_first / 7);
  CHECK(counts.ns <= calls * each_ns + 2 * Sampling::mean_gap * each_ns);
  CHECK(counts.ns >= calls * each_ns - 2 * Sampling::mean_gap * each_ns);
}

TEST_CASE("sampling: of very many still fewer are timed") {
  constexpr int at_first = 8 * Sampling::many, then = 64 * 10'000;
  constexpr std::uint64_t each_ns = 100;
  const Counts counts = run(at_first + then, [](int) { return each_ns; });
  CHECK(counts.timed > Sampling::many + 9'000);
  CHECK(counts.timed < Sampling::many + 11'000);
  constexpr std::uint64_t all_ns = (at_first + then) * each_ns,
                          one_gap_ns = 2 * Sampling::mean_gap_of_many * each_ns;
  CHECK(counts.ns <= all_ns + one_gap_ns);
  CHECK(counts.ns >= all_ns - one_gap_ns);
}

TEST_CASE("sampling: sums are right where calls of several kinds take turns") {
  for (const int period : {2, 3, 7, 8, 15, 16}) {
    CAPTURE(period);
    std::uint64_t true_ns = 0;
    const Counts counts = run(
        800'000, [=](int i) { return i % period == 0 ? std::uint64_t{900} : std::uint64_t{50}; }, &true_ns);
    CHECK(static_cast<double>(counts.ns) == doctest::Approx(static_cast<double>(true_ns)).epsilon(0.03));
  }
}

TEST_CASE("sampling: after a long one all are timed until their mean is cheap again") {
  Sampling sampling(1);
  sampling.allow(0, Waits::never);
  for (int i = 0; i < 10'000; ++i)
    if (sampling.due(0) != 0) sampling.timed(0, 50);
  while (sampling.due(0) == 0) {
  }
  constexpr std::uint64_t times_cheap = 64;
  sampling.timed(0, times_cheap * Sampling::cheap_ns);
  int timed = 0;
  for (; sampling.due(0) == 1; ++timed) sampling.timed(0, 50);
  // The mean of the last ones forgets a sixteenth with each.
  CHECK(timed > 16);
  CHECK(timed < 32);
}

TEST_CASE("sampling: a long wait among cheap calls stands for itself, and the sum is right") {
  constexpr std::uint64_t long_ns = 5'000'000, cheap_ns = 300;
  constexpr int calls = 1'000'000, period = 1009;
  Sampling sampling(1);
  sampling.allow(0, Waits::for_others);
  CHECK(sampling.is_watched(0));
  std::uint64_t stood_for_ns = 0, true_ns = 0;
  int timed = 0;
  for (int i = 0; i < calls; ++i) {
    const std::uint64_t ns = i % period == 0 ? long_ns : cheap_ns;
    true_ns += ns;
    std::uint32_t stands_for = sampling.due(0);
    if (ns == long_ns) stands_for = 1;  // the coarse clock has seen it
    if (stands_for == 0) continue;
    ++timed;
    stood_for_ns += stands_for * ns;
    sampling.timed(0, ns);
  }
  CHECK(timed < calls / 4);
  CHECK(static_cast<double>(stood_for_ns) == doctest::Approx(static_cast<double>(true_ns)).epsilon(0.03));
}

namespace {

/// Keys of so many calls each, of which the first takes longer, or less, than the others: what is booked for all of them,
/// counted as interpose/repetition.cpp does it.
std::uint64_t booked_of_short_keys(int keys, int calls, std::uint64_t first_ns, std::uint64_t other_ns) {
  Sampling sampling(1);
  sampling.allow(0, Waits::never);
  std::uint64_t booked_ns = 0;
  for (int key = 0; key < keys; ++key) {
    std::uint32_t left = 0, gap = 0;
    std::uint64_t time_ns = 0;
    bool kept = false;
    for (int i = 0; i < calls; ++i) {
      const std::uint64_t ns = i == 0 ? first_ns : other_ns;
      if (kept && left > 0) {
        --left;
        continue;
      }
      const std::uint32_t stands_for = kept ? gap + 1 : sampling.due(0);
      booked_ns += stands_for * ns;
      if (stands_for != 0 && !kept) sampling.timed(0, ns);
      const auto next =
          stands_for == 0 ? sampling.calls_to_count(0) : std::optional(sampling.calls_to_count(0, ns, kept));
      time_ns = kept ? ns : sampling.repeated_ns(0);
      kept = next.has_value() && (stands_for == 0 || *next != 0);
      left = gap = kept ? *next : 0;
    }
    booked_ns += (gap - left) * time_ns;
  }
  return booked_ns;
}

}  // namespace

TEST_CASE("sampling: sums are right where keys have few calls, and the first is unlike the others") {
  constexpr int keys = 200'000;
  for (const int calls : {2, 5, 20})
    for (const auto& [first_ns, other_ns] : {std::pair{900, 100}, std::pair{100, 400}}) {
      CAPTURE(calls);
      CAPTURE(first_ns);
      const auto true_ns = static_cast<double>(keys) * (first_ns + (calls - 1) * other_ns);
      const auto booked = static_cast<double>(booked_of_short_keys(
          keys, calls, static_cast<std::uint64_t>(first_ns), static_cast<std::uint64_t>(other_ns)));
      CHECK(booked == doctest::Approx(true_ns).epsilon(0.1));
    }
}

TEST_CASE("sampling: functions that are not allowed to be sampled are always timed") {
  Sampling sampling(1);
  CHECK(!sampling.is_watched(0));
  for (int i = 0; i < 1000; ++i) {
    CHECK(sampling.due(0) == 1);
    sampling.timed(0, 50);
  }
}

TEST_CASE("sampling: threads share it, and every call is stood for once") {
  constexpr int threads = 4, calls = 50'000;
  Sampling sampling(1);
  sampling.allow(0, Waits::never);
  std::mutex lock;
  std::atomic<std::uint64_t> stood_for = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&] {
      for (int call = 0; call < calls; ++call) {
        const std::uint32_t stands_for = sampling.due(0);
        if (stands_for == 0) continue;
        stood_for += stands_for;
        const std::lock_guard guard(lock);
        sampling.timed(0, 50);
      }
    });
  for (std::thread& worker : workers) worker.join();
  CHECK(static_cast<double>(stood_for.load()) == doctest::Approx(threads * calls).epsilon(0.001));
}

namespace {

/// The collectives that a rank times if each of its calls takes so long.
std::vector<std::uint64_t> timed_collectives(std::uint64_t calls, std::uint64_t each_ns,
                                             std::uint64_t* stand_for = nullptr) {
  Sampling sampling(1);
  Untimed untimed;
  std::vector<std::uint64_t> timed;
  for (std::uint64_t sequence = 0; sequence < calls; ++sequence) {
    const std::uint32_t stands_for = untimed.due(0, sampling.is_due(0, sequence));
    if (stands_for == 0) continue;
    if (stand_for != nullptr) *stand_for += stands_for;
    timed.push_back(sequence);
    sampling.timed_collective(0, each_ns);
  }
  return timed;
}

}  // namespace

TEST_CASE(
    "sampling: of cheap collectives few are timed, they stand for all, and ranks that time fewer time the "
    "same") {
  constexpr std::uint64_t calls = 200'000;
  std::uint64_t stand_for = 0;
  const std::vector<std::uint64_t> cheap = timed_collectives(calls, 300, &stand_for);
  const std::vector<std::uint64_t> dear = timed_collectives(calls, Sampling::cheap_ns);
  CHECK(dear.size() == calls);
  CHECK(cheap.size() < Sampling::many + calls / 50);
  CHECK(cheap.size() > calls / 80);
  CHECK(calls - stand_for < 1000);
  CHECK(std::ranges::all_of(cheap.end() - 1000, cheap.end(),
                            [](std::uint64_t sequence) { return Sampling::is_multiple(sequence, 64); }));
}

TEST_CASE("sampling: a collective that stands for itself is in no other one's number") {
  constexpr std::uint64_t calls = 100'000;
  Sampling sampling(1);
  Untimed untimed;
  std::uint64_t stand_for = 0, waiting = 0;
  for (std::uint64_t sequence = 0; sequence < calls; ++sequence) {
    std::uint32_t stands_for = untimed.due(0, sampling.is_due(0, sequence));
    waiting = stands_for == 0 ? waiting + 1 : 0;
    if (stands_for > 0) sampling.timed_collective(0, 300);
    if (sequence % 7 == 0) {
      untimed.add(0, std::int64_t{stands_for} - 1);
      waiting += stands_for - std::uint64_t{1};
      stands_for = 1;
    }
    stand_for += stands_for;
  }
  CHECK(stand_for + waiting == calls);
}

TEST_CASE("sampling: of two communicators whose calls take turns each has its own time") {
  constexpr std::uint64_t calls = 200'000;
  constexpr std::array<std::uint64_t, 2> each_ns = {100, 900};
  Sampling sampling(1);
  std::array<Untimed, 2> untimed;
  std::array<std::uint64_t, 2> ns{};
  for (std::uint64_t sequence = 0; sequence < calls; ++sequence)
    for (std::size_t comm = 0; comm < 2; ++comm) {
      const std::uint32_t stands_for = untimed[comm].due(0, sampling.is_due(0, sequence));
      ns[comm] += stands_for * each_ns[comm];
      if (stands_for > 0) sampling.timed_collective(0, each_ns[comm]);
    }
  for (std::size_t comm = 0; comm < 2; ++comm) {
    CHECK(ns[comm] <= calls * each_ns[comm]);
    CHECK(ns[comm] >= (calls - 1000) * each_ns[comm]);
  }
}
