#include "profile/watch_clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>
#include <string_view>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace wherry::profile {

namespace {

std::uint64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
/// Intel's and AMD's manuals: "invariant TSC".
bool counter_is_steady() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}
#else
bool counter_is_steady() { return false; }
#endif

}  // namespace

std::uint64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
std::uint64_t realtime_ns() { return read_clock(CLOCK_REALTIME); }
std::uint64_t coarse_ns() { return read_clock(CLOCK_MONOTONIC_COARSE); }

std::uint64_t coarsely_known_ns() {
  static const std::uint64_t two_steps = [] {
    constexpr std::uint64_t usual_ns = 4'000'000;
    timespec step{};
    if (::clock_getres(CLOCK_MONOTONIC_COARSE, &step) != 0) return 2 * usual_ns;
    return 2 * (static_cast<std::uint64_t>(step.tv_sec) * 1'000'000'000U +
                static_cast<std::uint64_t>(step.tv_nsec));
  }();
  return two_steps;
}

WatchClock::Moment WatchClock::now() {
  constexpr int readings = 8;
  Moment best{};
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < readings; ++i) {
    const std::uint64_t before = ticks(), ns = monotonic_ns(), passed = ticks() - before;
    if (passed >= shortest) continue;
    shortest = passed;
    best = {before + passed / 2, ns};
  }
  return best;
}

/// Linux leaves the counter for another clock where those of two processors do not agree.
bool has_steady_ticks() {
  if (!counter_is_steady()) return false;
  // Not by <cstdio>, whose buffers are of the program's heap.
  const int file =
      ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[32];
  const ssize_t length = ::read(file, text, sizeof text);
  ::close(file);
  const std::string_view source(text, length > 0 ? static_cast<std::size_t>(length) : 0);
  return source == "tsc\n" || source == "kvm-clock\n";
}

}  // namespace wherry::profile
