// What the rank itself writes to others' memory.
//
// It updates or drops what it touches of what is cached. A get that races with a write is left to MPI, which says
// nothing about its result, but what it brings is not kept.
#pragma once

#include "window/window_state.hpp"

namespace wherry::window {

class Writes {
 public:
  explicit Writes(WindowState& common) : common_(common) {}

  /// Put and Rput. The origin's data are read before the call returns.
  int put(const Region& origin, const TargetRegion& place, const Native& native);
  /// Whatever else changes the target.
  int change(const TargetRegion& place, const Native& native);
  /// The writes of a target up to a number have reached it, if there are any. What was read meanwhile may be older than
  /// they are.
  void complete(Target& target, SequenceNumber last);

 private:
  void note_write(const TargetRegion& place, const datatype::TypeMap& map, const std::byte* data);
  void note_range(Target& target, const cache::TargetRange& range, const std::byte* data);

  WindowState& common_;
};

}  // namespace wherry::window
