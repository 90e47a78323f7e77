// How long a call takes, where that is asked for.
#pragma once

#include "base/floating_point.hpp"

namespace wherry::run {

/// Reads the clock only if wanted: that takes longer than all else that a native call costs.
class CallTimer {
 public:
  /// now: seconds.
  CallTimer(double (*now)(), bool wanted) : now_(wanted ? now : nullptr), start_(wanted ? now() : 0) {}
  /// Since it was made; 0 if nobody wants to know.
  double seconds() const {
    return now_ != nullptr ? computed([this] { return now_() - start_; }) : 0;
  }

 private:
  double (*now_)();
  double start_;
};

}  // namespace wherry::run
