// Waiting by asking again and again, without keeping the core from those that are waited for.
//
// A wait asks some times at once, about as long as one message takes between two running ranks; then it yields: another
// thread that wants the core gets it. Linux may not listen: where each rank is in a session of its own, as those that
// Hydra starts (of MPICH and Intel MPI), and the kernel schedules sessions against each other (autogroup), a thread
// yields to its own session only. So after a while the wait sleeps, shortly against what has been waited for already: a
// message is answered at most a quarter of the wait later, and no more than 50 us, but for what waking takes, tens of
// microseconds. That is too much for short waits, and for long transfers, which go on only while the rank asks. MPICH
// 5, 4 ranks on 2 cores: where sleeps began after 10 us, the FFT of 32^3 took 2.7 times as long and LAMMPS 1.2 times;
// after 1 ms, the FFT of 64^3, whose all-to-alls take 3 ms, 2.4 times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace wherry::waiting {

inline constexpr int polls_before_yield = 64;
inline constexpr int yields_before_sleep = 8;
inline constexpr std::uint64_t shortest_sleep_ns = 1'000;
inline constexpr std::uint64_t longest_sleep_ns = 50'000;

/// How long to sleep after so long a wait.
constexpr std::uint64_t sleep_after(std::uint64_t waited_ns) {
  return std::clamp(waited_ns / 4, shortest_sleep_ns, longest_sleep_ns);
}

/// How long to wait before the first sleep, and where no sleep is of use.
inline constexpr std::uint64_t sleeps_after_ns = 10'000'000;
inline constexpr std::uint64_t never_sleeps = std::numeric_limits<std::uint64_t>::max();

/// The pauses of one wait, once it has asked in vain for a while.
class Pauses {
 public:
  explicit Pauses(std::uint64_t sleeps_after);
  /// Yields, or sleeps after a while. Leaves errno alone and is no cancellation point, as the library's own waits.
  void pause();

 private:
  std::uint64_t sleeps_after_;  // nanoseconds
  std::uint64_t begin_ns_;
  int yields_ = 0;
};

/// Calls `done(int* flag)` until it reports completion or an error.
template <class Test>
int poll(Test done, std::uint64_t sleeps_after = sleeps_after_ns) {
  for (int polls = 0; polls < polls_before_yield; ++polls) {
    int flag = 0;
    const int code = done(&flag);
    if (code != 0 || flag != 0) return code;  // 0: MPI_SUCCESS, in every library
  }
  for (Pauses pauses(sleeps_after);;) {
    pauses.pause();
    int flag = 0;
    const int code = done(&flag);
    if (code != 0 || flag != 0) return code;
  }
}

}  // namespace wherry::waiting
