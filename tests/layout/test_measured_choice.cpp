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

TEST_CASE("the library keeps what is hardly faster otherwise") {
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

}  // namespace wherry::layout
