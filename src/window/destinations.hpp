// Where the bytes of gets under way go, and what else is written there meanwhile.
//
// MPI forbids to touch the memory that a get reads to before it is complete (MPI 4.1, 12.3). Programs do it all the same: they read several
// places to one buffer, to warm up or to measure, and complete once. What was read to such a place must not be remembered as what is
// there in the end. Two gets of the same bytes to the same place do no harm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/entry.hpp"

namespace wherry::window {

/// Bytes of a range, written to memory of this process.
struct Written {
  cache::Range range;
  const std::byte* to;
  bool* mixed;  // nullptr: nobody wants to know; else set if others wrote there, too

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(to); }
  std::uintptr_t end() const { return begin() + range.bytes; }
  /// Whether what both have in common is the same bytes.
  bool agrees(const Written& other) const {
    return range.target == other.range.target &&
           range.displacement - begin() == other.range.displacement - other.begin();
  }
};

/// Tells those whose memory others have written, too: of each row of writes that overlap all, unless all of them agree.
void tell_mixed(std::vector<Written>& written);

class Destinations {
 public:
  /// Whether this may be where bytes are under way to.
  bool may_touch(const void* to, std::uint64_t bytes) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(to);
    return begin < end_ && begin + bytes > begin_;
  }
  /// Bytes are under way to there.
  void expect(const std::byte* to, std::uint64_t bytes) {
    doubtful_ |= may_touch(to, bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(to);
    begin_ = std::min(begin_, begin);
    end_ = std::max(end_, begin + bytes);
    ++expected_;
  }
  /// Bytes of a range are written to there, now or when they come.
  void note(const cache::Range& range, const std::byte* to) {
    if (!may_touch(to, range.bytes)) return;
    doubtful_ = true;
    if (others_.size() < most_others) others_.push_back({range, to, nullptr});
    else lost_ = true;
  }
  /// One of those that were expected has come.
  void arrived() {
    if (--expected_ == 0) *this = {};
  }

  /// Whether something may have been written over something else since the last check().
  bool doubtful() const { return doubtful_; }
  /// Tells those of `expected`, which are all, whose memory others have written, too.
  void check(std::vector<Written> expected);

 private:
  static constexpr std::size_t most_others = 65536;

  std::uintptr_t begin_ = UINTPTR_MAX, end_ = 0;  // around all that is expected
  std::size_t expected_ = 0;
  bool doubtful_ = false;
  std::vector<Written> others_;
  bool lost_ = false;  // there were more of these
};

}  // namespace wherry::window
