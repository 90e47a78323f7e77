// Staging slots: which are free, in a growing arena.
#pragma once

#include <vector>

namespace wherry::schedule {

/// Hands out runs of consecutive slots, the lowest that fit, and takes slots back one by one.
class Slots {
 public:
  /// The first of `count` consecutive slots that nobody uses; grows the arena if none are free.
  int take(int count);
  /// Gives slots back. They need not be what one take() gave. Leaves `slots` sorted.
  void give_back(std::vector<int>& slots);
  /// Slots that were ever in use.
  int high_water() const { return end_; }

 private:
  struct Run {
    int first;
    int count;
  };

  std::vector<Run> free_;  // ascending, never adjacent
  int end_ = 0;
};

}  // namespace wherry::schedule
