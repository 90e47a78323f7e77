// Tags of nonblocking operations, on one communicator.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

namespace wherry::run {

/// Collectives get sequence numbers in the order in which they start, which all ranks share, and tags by these. Tags
/// are few, so they come again. A collective waits with its messages until this rank has ended all that may have its
/// tag: a rank that is further on sent what belongs to those first, and messages of one tag do not overtake each other.
class Tags {
 public:
  using Sequence = std::uint64_t;

  /// count: how many tags there are, from `first`.
  Tags(int first, int count) : first_(first), count_(static_cast<std::uint64_t>(count)) {}

  Sequence take() {
    under_way_.insert(next_);
    return next_++;
  }
  int tag(Sequence sequence) const { return first_ + static_cast<int>(sequence % count_); }
  /// Whether no earlier collective of this rank may still use this one's tag.
  bool is_free(Sequence sequence) const { return sequence < *under_way_.begin() + count_; }
  void give_back(Sequence sequence) { under_way_.erase(sequence); }

 private:
  int first_;
  std::uint64_t count_;
  Sequence next_ = 0;
  std::set<Sequence> under_way_;
};

/// Collectives that are started again and again keep their tag, for ranks may start several of them in different
/// orders. They take it when they are made, in an order that all ranks share. No tag comes again: one rank may be done
/// with a collective for good when another has yet to start it.
class LastingTags {
 public:
  LastingTags(int first, int count) : next_(first), left_(count) {}

  /// None when all have been taken, so on all ranks alike.
  std::optional<int> take() { return left_ > 0 ? (--left_, std::optional(next_++)) : std::nullopt; }

 private:
  int next_;
  int left_;
};

}  // namespace wherry::run
