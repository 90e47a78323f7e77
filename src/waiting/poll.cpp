#include "waiting/poll.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace wherry::waiting {

namespace {

std::uint64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The system call itself: glibc's nanosleep is a cancellation point.
void sleep_ns(std::uint64_t ns) {
  const int kept = errno;
  const timespec duration = {0, static_cast<long>(ns)};
  ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &duration, nullptr);
  errno = kept;
}

}  // namespace

Pauses::Pauses(Pause kind) : kind_(kind), begin_ns_(now_ns()) {}

void Pauses::pause() {
  const std::uint64_t sleep = kind_ == Pause::yields ? 0 : sleep_after(now_ns() - begin_ns_);
  if (sleep == 0) ::sched_yield();
  else sleep_ns(sleep);
}

}  // namespace wherry::waiting
