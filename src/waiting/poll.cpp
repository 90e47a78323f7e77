#include "waiting/poll.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own_errno.hpp"

namespace wherry::waiting {

namespace {

std::uint64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The system call itself: glibc's nanosleep is a cancellation point. The kernel may wake this thread up to its timer
/// slack later, 50 us unless the program says otherwise: for this sleep, it does not.
void sleep_ns(std::uint64_t ns) {
  const OwnErrno own;
  const int slack = ::prctl(PR_GET_TIMERSLACK);
  ::prctl(PR_SET_TIMERSLACK, 1);
  const timespec duration = {0, static_cast<long>(ns)};
  ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &duration, nullptr);
  if (slack > 0) ::prctl(PR_SET_TIMERSLACK, slack);
}

}  // namespace

Pauses::Pauses(std::uint64_t sleeps_after) : sleeps_after_(sleeps_after), begin_ns_(now_ns()) {}

void Pauses::pause() {
  if (yields_ < yields_before_sleep) {
    ++yields_;
    ::sched_yield();
    return;
  }
  const std::uint64_t waited_ns = now_ns() - begin_ns_;
  if (waited_ns < sleeps_after_) ::sched_yield();
  else sleep_ns(sleep_after(waited_ns));
}

}  // namespace wherry::waiting
