// Gets that the library serves, because they cannot be cached or are cheaper without the cache.
#pragma once

#include <array>
#include <cstdint>

#include "window/native.hpp"
#include "window/window_state.hpp"
#include "window/window_statistics.hpp"

namespace wherry::window {

class NativeGets {
 public:
  explicit NativeGets(WindowState& common) : common_(common) {}

  /// One that cannot be cached.
  int pass(NotCached why, const TargetRegion& place, const Native& native);
  /// One that is cheaper without the cache.
  int bypass(NotCached why, int rank, std::uint64_t bytes, const Native& native);
  /// The same of a window that has no cache yet, or one that rests. Types are not looked at.
  int get_untracked(const TargetRegion& place, const Native& native);
  /// By the get that was issued last, if its call went well, the library will write to the origin, whatever it reads.
  /// Not for gets with a request: nobody here sees when these are over. Returns the call's code.
  int expect(const Region& origin, int rank, int code);

  /// Gets that were cheaper without the cache.
  std::uint64_t bypassed() const { return bypassed_; }
  void report(WindowStatistics& statistics) const;

 private:
  void count(NotCached why, std::uint64_t bytes) { not_cached_[static_cast<std::size_t>(why)].add(bytes); }
  std::uint64_t bytes_of(const TargetRegion& place);

  WindowState& common_;
  PlainType passed_type_;  // predefined, of the last such get
  std::uint64_t passed_ = 0, bypassed_ = 0;
  std::array<Amount, not_cached_reasons> not_cached_;
};

}  // namespace wherry::window
