// A clock for calls that need not be timed exactly: read in a few instructions, and never by a call of the kernel's.
//
// Where the kernel itself keeps time by the processor's counter, that is read, and the kernel's clock once in a while
// tells what a tick is worth. Elsewhere the kernel's coarse clock does, in steps of some milliseconds.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace wherry::profile {

/// Nanoseconds of CLOCK_MONOTONIC, and of CLOCK_REALTIME.
std::uint64_t monotonic_ns();
std::uint64_t realtime_ns();
/// CLOCK_MONOTONIC in steps of some milliseconds, read in a tenth of the time.
std::uint64_t coarse_ns();
/// Two steps of the coarse clock: what two of its readings differ by at least where the time between them is known by
/// them.
std::uint64_t coarsely_known_ns();
/// Whether the kernel keeps time by a counter of the processor that runs at one rate on all of them.
bool has_steady_ticks();

class WatchClock {
 public:
  /// The same moment by two clocks.
  struct Moment {
    std::uint64_t ticks, ns;
  };
  /// Of so little time what a tick is worth would not be known well enough.
  static constexpr std::uint64_t shortest_ns = 200'000;

  /// From now on ticks are counted, by what passed between the two moments.
  void set(const Moment& first, const Moment& second) {
    if (second.ns < first.ns + shortest_ns || second.ticks <= first.ticks) return;
    const auto passed_ns = static_cast<unsigned __int128>(second.ns - first.ns);
    begin_ = second;
    ns_of_tick_ = static_cast<std::uint64_t>((passed_ns << 32) / (second.ticks - first.ticks));
  }
  bool counts_ticks() const { return ns_of_tick_ != 0; }

  /// Of CLOCK_MONOTONIC, as far as this clock knows; never 0.
  [[gnu::always_inline]] std::uint64_t now_ns() const { return counts_ticks() ? at(ticks()) : coarse_ns(); }
  /// Not before set().
  [[gnu::always_inline]] std::uint64_t at(std::uint64_t ticks) const {
    const auto passed = static_cast<unsigned __int128>(ticks - begin_.ticks);
    return begin_.ns + static_cast<std::uint64_t>(passed * ns_of_tick_ >> 32);
  }
  /// Whether it knows the time between two of its readings well enough for that call to stand for itself.
  [[gnu::always_inline]] bool knows(std::uint64_t enter_ns, std::uint64_t leave_ns) const {
    return static_cast<std::int64_t>(leave_ns - enter_ns) >= static_cast<std::int64_t>(known_ns_);
  }
  /// The same of the time between two readings of the exact clock.
  bool would_know(std::uint64_t enter_ns, std::uint64_t leave_ns) const {
    if (counts_ticks()) return knows(enter_ns, leave_ns);
    const std::uint64_t step = known_ns_ / 2;
    return leave_ns / step - enter_ns / step >= 2;
  }

  /// A time between two of its readings, of which the later is now, by the exact clock: in hours they drift apart.
  static void to_exact(std::uint64_t& enter_ns, std::uint64_t& leave_ns) {
    const std::uint64_t passed_ns = leave_ns - enter_ns;
    leave_ns = monotonic_ns();
    enter_ns = leave_ns - passed_ns;
  }

  static std::uint64_t ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
  }
  /// Of several readings the one in which least time passed between the two clocks: the process may lose its core there.
  static Moment now();

 private:
  std::uint64_t ns_of_tick_ = 0;  // times 2^32; 0: ticks are not counted
  Moment begin_ = {};
  const std::uint64_t known_ns_ = coarsely_known_ns();
};

}  // namespace wherry::profile
