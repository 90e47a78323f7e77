// Where the bytes of gets under way go, and what else is written there meanwhile.
//
// MPI forbids touching the memory that a get reads to before it is complete (MPI 4.1, 12.3). Programs do it all the same: they read several
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

/// In each chain of overlapping writes all are mixed, unless they agree. Whether anybody was told so.
bool tell_mixed(std::vector<Written>& written);

class Destinations {
 public:
  /// Bytes that will be copied when gets of their target have come that are under way, the last of which has this number.
  struct Copy {
    Written written;
    std::uint64_t last;
  };

  /// Whether this may be where bytes are under way to.
  bool may_touch(const void* to, std::uint64_t bytes) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(to);
    return begin < end_ && begin + bytes > begin_;
  }

  /// A get is under way to there.
  void expect(const std::byte* to, std::uint64_t bytes) {
    include(to, bytes);
    ++expected_;
  }
  /// One of these is over.
  void arrived() {
    if (--expected_ == 0) clear();
  }
  void expect_copy(const Copy& copy) {
    include(copy.written.to, copy.written.range.bytes);
    copies_.push_back(copy);
  }
  /// Bytes of a range have been written to there.
  void wrote(const cache::Range& range, const std::byte* to) {
    if (!may_touch(to, range.bytes)) return;
    doubtful_ = true;
    written_.push_back({range, to, nullptr});
  }

  /// Whether something may have been written over something else since the last check().
  bool doubtful() const { return doubtful_; }
  /// Whether it is time for check() because of what is noted for it.
  bool is_full() const { return written_.size() + copies_.size() >= most_noted_; }
  /// Whether anything under way may be mixed.
  bool any_mixed() const { return mixed_; }
  /// Copies that have been made are no longer under way. Before check().
  template <class IsMade>
  void drop_copies(IsMade&& is_made) {
    std::erase_if(copies_, is_made);
  }
  /// Tells those of `under_way`, which are all gets that are, whose memory others write, too. What was written before now does no
  /// harm to what begins later.
  void check(std::vector<Written> under_way);

 private:
  static constexpr std::size_t least_noted = 1024;

  void include(const std::byte* to, std::uint64_t bytes) {
    doubtful_ |= may_touch(to, bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(to);
    begin_ = std::min(begin_, begin);
    end_ = std::max(end_, begin + bytes);
  }

  void clear() {
    begin_ = UINTPTR_MAX;
    end_ = 0;
    doubtful_ = mixed_ = false;
    copies_.clear();
    written_.clear();
  }

  std::uintptr_t begin_ = UINTPTR_MAX, end_ = 0;  // around all that is expected
  std::size_t expected_ = 0;                      // gets
  bool doubtful_ = false, mixed_ = false;
  std::vector<Copy> copies_;      // that may have to be made still
  std::vector<Written> written_;  // since the last check()
  std::size_t most_noted_ = least_noted;
};

}  // namespace wherry::window
