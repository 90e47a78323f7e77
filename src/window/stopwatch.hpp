// How long something takes.
#pragma once

#include <chrono>

#include "base/floating_point.hpp"

namespace wherry::window {

/// Starts when it is made.
class Stopwatch {
 public:
  double seconds() const {
    const auto taken = Clock::now() - begin_;
    return computed([&] { return std::chrono::duration<double>(taken).count(); });
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_ = Clock::now();
};

}  // namespace wherry::window
