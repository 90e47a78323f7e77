// Where the bytes of a window's gets go, compared with all that its operations write there meanwhile.
#pragma once

#include "window/destinations.hpp"
#include "window/operations.hpp"

namespace wherry::window {

class Overlaps {
 public:
  explicit Overlaps(Operations& operations) : operations_(operations) {}

  /// Whether this may be where bytes are under way to.
  bool may_touch(const void* to, std::uint64_t bytes) const { return destinations_.may_touch(to, bytes); }
  /// A get is under way to there; one of these is over.
  void expect(const std::byte* to, std::uint64_t bytes) { destinations_.expect(to, bytes); }
  void arrived() { destinations_.arrived(); }

  /// Bytes of a range have been copied to there.
  void note_written(const cache::TargetRange& range, const std::byte* to) {
    destinations_.hit({range, to, operations_.issued()});
    if (destinations_.is_full()) [[unlikely]]
      find();
  }
  /// They will be when the operations of their target up to a number have come.
  void note_coming(const cache::TargetRange& range, const std::byte* to, SequenceNumber last) {
    destinations_.expect_copy({range, to, last});
    if (destinations_.is_full()) [[unlikely]]
      find();
  }

  /// Whether anything under way may be aliased.
  bool any() const { return destinations_.any_aliased(); }
  /// If there may be something: notes what is read to places to which something else is written as well.
  void find_if_uncertain() {
    if (destinations_.uncertain()) find();
  }
  /// The same before a completion. keeps: what comes is kept; else nobody wants to know but those who wait for it.
  void find_in_time(bool keeps) {
    if (keeps || destinations_.has_copies()) find_if_uncertain();
  }

 private:
  void find() {
    operations_.has_open();  // only the targets that have something under way
    destinations_.check(
        [&](auto&& use) {
          for (const int rank : operations_.open()) {
            Target& target = operations_.target(rank);
            for (Fetched& each : target.fetched) use({each.range, each.bytes, each.sequence, &each.aliased});
            for (Coming& each : target.coming) use({each.range, each.bytes, each.sequence, &each.aliased});
          }
        },
        [&](const Written& copy) { return copy.sequence <= operations_.target(copy.range).local; });
  }

  Operations& operations_;
  Destinations destinations_;
};

}  // namespace wherry::window
