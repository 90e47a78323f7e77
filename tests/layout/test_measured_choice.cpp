#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <random>

#include "layout/measured_choice.hpp"

namespace wherry::layout {
namespace {

using Time = std::function<std::uint64_t(Copier copier, int call)>;

struct Run {
  int native = 0, kernels = 0;
  int found = 0;
  Copier last = Copier::native;
};

/// So many calls; what each copier takes.
Run run(MeasuredChoice& choice, int calls, const Time& time) {
  Run run;
  for (int call = 0; call < calls; ++call) {
    run.last = choice.next();
    ++(run.last == Copier::native ? run.native : run.kernels);
    if (choice.is_measuring() && choice.took(run.last, time(run.last, call))) ++run.found;
  }
  return run;
}

Time times(std::uint64_t native, std::uint64_t kernels) {
  return [=](Copier copier, int) { return copier == Copier::native ? native : kernels; };
}

}  // namespace

TEST_CASE("the faster copier is kept, and the slower one is called in less than 2 of 100 calls") {
  for (const std::uint64_t slower : {110, 200, 300, 1000, 100'000})
    for (const bool kernels_win : {false, true}) {
      MeasuredChoice choice;
      constexpr int calls = 100'000;
      const Run done = run(choice, calls, kernels_win ? times(slower, 100) : times(100, slower));
      CAPTURE(slower);
      CHECK(done.last == (kernels_win ? Copier::kernels : Copier::native));
      const std::uint64_t lost =
          static_cast<std::uint64_t>(kernels_win ? done.native : done.kernels) * (slower - 100);
      CHECK(lost <= std::uint64_t{calls} * 100 / 50 + 5 * slower);  // beside the first measurement
    }
}

TEST_CASE("what is hardly faster otherwise stays native") {
  MeasuredChoice choice;
  CHECK(run(choice, 1000, times(1000, 990)).last == Copier::native);
}

TEST_CASE("one call that was interrupted decides nothing") {
  for (int interrupted = 0; interrupted < 10; ++interrupted) {
    MeasuredChoice choice;
    const Run done = run(choice, 100, [=](Copier copier, int call) {
      return call == interrupted ? std::uint64_t{1'000'000} : copier == Copier::native ? 150U : 100U;
    });
    CAPTURE(interrupted);
    CHECK(done.last == Copier::kernels);
  }
}

TEST_CASE("what becomes slower is noticed at the next measurement") {
  MeasuredChoice choice;
  CHECK(run(choice, 100, times(300, 100)).last == Copier::kernels);
  CHECK(run(choice, 3 * 256 + 100, times(300, 900)).last == Copier::native);
}

TEST_CASE("calls that pass count as calls, and none passes a measurement") {
  MeasuredChoice choice;
  run(choice, 100, times(100, 150));
  int calls = 0;
  while (true) {
    const Copier copier = choice.next();
    ++calls;
    if (choice.is_measuring()) break;
    REQUIRE(copier == Copier::native);
    calls += choice.pass();
  }
  CHECK(calls <= 256);
  CHECK(calls > 100);
}

TEST_CASE("times of threads that came late change nothing") {
  MeasuredChoice choice;
  run(choice, 100, times(300, 100));
  REQUIRE_FALSE(choice.is_measuring());
  CHECK_FALSE(choice.took(Copier::native, 1));
  CHECK(choice.next() == Copier::kernels);
}

/// Calls that wait: up to `most` beside what they take, by a fixed seed.
Time waiting(std::uint64_t native, std::uint64_t kernels, std::uint64_t most, unsigned seed) {
  return [=, random = std::mt19937_64(seed)](Copier copier, int) mutable {
    return (copier == Copier::native ? native : kernels) + random() % most;
  };
}

TEST_CASE("calls that wait: the faster copier is kept, where the waits do not hide it") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    MeasuredChoice faster(CopyTiming::waiting), slower(CopyTiming::waiting);
    CHECK(run(faster, 200, waiting(5000, 1000, 3000, seed)).last == Copier::kernels);
    CHECK(run(slower, 200, waiting(1000, 5000, 3000, seed)).last == Copier::native);
  }
}

TEST_CASE("calls that wait: a clear difference is known after three pairs") {
  for (const std::uint64_t native : {250, 1000, 100'000}) {
    MeasuredChoice choice(CopyTiming::waiting);
    CAPTURE(native);
    CHECK(run(choice, 5, times(native, 100)).found == 0);
    CHECK(run(choice, 1, times(native, 100)).found == 1);
    CHECK(choice.next() == Copier::kernels);
  }
}

TEST_CASE("calls that wait: where waits differ by more than twice, the library mostly stays") {
  const auto kept_kernels = [](std::uint64_t native, std::uint64_t kernels) {
    int kept = 0;
    for (unsigned seed = 1; seed <= 400; ++seed) {
      MeasuredChoice choice(CopyTiming::waiting);
      kept += run(choice, 200, waiting(native, kernels, 20'000, seed)).last == Copier::kernels ? 1 : 0;
    }
    return kept;
  };
  CHECK(kept_kernels(1000, 1000) < 140);  // at even odds, one in three
  CHECK(kept_kernels(1000, 4000) < 70);
}

TEST_CASE("calls that wait: where both are alike, the library mostly stays") {
  int kernels = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    MeasuredChoice choice(CopyTiming::waiting);
    kernels += run(choice, 200, waiting(1000, 1000, 1000, seed)).last == Copier::kernels ? 1 : 0;
  }
  CHECK(kernels < 80);  // a walk that ends at +6 or -4, with 0.48 of the steps up: one in four
  MeasuredChoice same(CopyTiming::waiting);
  CHECK(run(same, 200, times(1000, 990)).last == Copier::native);
}

TEST_CASE("calls that wait: a rhythm of the program decides nothing") {
  for (const int period : {2, 4, 5, 6, 7, 8})  // every third call would take the order of the pairs along
    for (int phase = 0; phase < period; ++phase) {
      MeasuredChoice choice(CopyTiming::waiting);
      const Run done = run(choice, 200, [=](Copier, int call) {
        return call % period == phase ? std::uint64_t{100'000} : std::uint64_t{1000};
      });
      CAPTURE(period);
      CAPTURE(phase);
      CHECK(done.last == Copier::native);
    }
}

TEST_CASE("calls that wait: two ranks that count the same messages try a copier together") {
  MeasuredChoice sender(CopyTiming::waiting), receiver(CopyTiming::waiting);
  for (int call = 0; call < 400; ++call) {
    const Copier sends = sender.next(), receives = receiver.next();
    CAPTURE(call);
    REQUIRE(sends == receives);
    const std::uint64_t time =
        sends == Copier::native ? 1300 : 200;  // together; one of them alone would gain nothing
    if (sender.is_measuring()) sender.took(sends, time);
    if (receiver.is_measuring()) receiver.took(receives, time);
  }
  CHECK(sender.next() == Copier::kernels);
}

TEST_CASE("calls that wait: the slower copier is called in less than 4 of 100 calls") {
  for (const bool kernels_win : {false, true}) {
    MeasuredChoice choice(CopyTiming::waiting);
    const Run done = run(choice, 100'000, kernels_win ? times(300, 100) : times(100, 300));
    CHECK((kernels_win ? done.native : done.kernels) < 4000);
  }
}

}  // namespace wherry::layout
