// Waiting by asking again and again, without keeping the core from those that are waited for.
//
// A wait asks some times at once, about as long as one message takes between two running ranks. Then it yields between questions: where
// another thread wants the core, it gets it. A wait that lasts sleeps too, so that an idle rank burns no core; the sleep is short
// against what has been waited for already, and bounded. With the kernel's timer slack of 50 us, a message that comes during a
// sleep is answered 60 to 110 us later, after a wait of a millisecond or more.
#pragma once

#include <cstdint>

namespace wherry::waiting {

inline constexpr int polls_before_yield = 64;
inline constexpr std::uint64_t wait_before_sleep_ns = 1'000'000;
inline constexpr std::uint64_t longest_sleep_ns = 50'000;

/// How long to sleep now, after so long a wait; 0: only yield.
constexpr std::uint64_t sleep_after(std::uint64_t waited_ns) {
  if (waited_ns < wait_before_sleep_ns) return 0;
  const std::uint64_t share = waited_ns / 64;
  return share < longest_sleep_ns ? share : longest_sleep_ns;
}

enum class Pause { yields, sleeps };

/// The pauses of one wait, once it has asked in vain for a while.
class Pauses {
 public:
  explicit Pauses(Pause kind);
  /// Yields, or sleeps after a while. Leaves errno alone and is no cancellation point, as the library's own waits.
  void pause();

 private:
  Pause kind_;
  std::uint64_t begin_ns_;
};

/// Calls `done(int* flag)` until it reports completion or an error.
template <Pause kind, class Test>
int poll(Test done) {
  for (int polls = 0; polls < polls_before_yield; ++polls) {
    int flag = 0;
    const int code = done(&flag);
    if (code != 0 || flag != 0) return code;  // 0: MPI_SUCCESS, in every library
  }
  for (Pauses pauses(kind);;) {
    pauses.pause();
    int flag = 0;
    const int code = done(&flag);
    if (code != 0 || flag != 0) return code;
  }
}

}  // namespace wherry::waiting
