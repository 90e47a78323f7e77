// The operations of a window: their numbers, and which targets have some under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "window/target.hpp"

namespace wherry::window {

class Operations {
 public:
  /// memories: of all ranks. own: this one's rank.
  Operations(std::span<const TargetMemory> memories, int own) : targets_(memories.size()), own_(own) {
    for (std::size_t rank = 0; rank < memories.size(); ++rank) {
      targets_[rank].memory = memories[rank];
      targets_[rank].is_cached = static_cast<int>(rank) != own && memories[rank].unit > 0;
    }
  }

  /// This process's rank in the window.
  int own() const { return own_; }
  bool is_rank(int rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < targets_.size(); }
  /// Of a rank.
  Target& target(int rank) { return targets_[static_cast<std::size_t>(rank)]; }
  const Target& target(int rank) const { return targets_[static_cast<std::size_t>(rank)]; }
  Target& target(const cache::TargetRange& range) { return targets_[range.target]; }
  std::span<Target> targets() { return targets_; }
  std::span<const Target> targets() const { return targets_; }

  /// An operation to a rank begins: its number.
  SequenceNumber issue(int rank) {
    Target& to = target(rank);
    if (!to.listed) open_.push_back(rank);
    to.listed = true;
    ++to.under_way;
    return to.issued = ++issued_;
  }
  /// The last operation's.
  SequenceNumber issued() const { return issued_; }
  /// Any target may have gets and writes under way that have no numbers.
  void suspect_all() {
    for (std::size_t rank = 0; rank < targets_.size(); ++rank)
      targets_[rank].written = issue(static_cast<int>(rank));
  }

  /// Targets that may have something under way.
  std::span<const int> open() const { return open_; }
  /// Makes room for all. Throws std::bad_alloc.
  void reserve() { open_.reserve(targets_.size()); }
  /// Whether a target that may be no rank at all has operations that are not complete in this sense.
  bool needs(int rank, SequenceNumber Target::* reached) {
    return !is_rank(rank) || target(rank).*reached < target(rank).issued;
  }
  /// Whether anything is not complete, at whatever target. Those that single flushes have completed are no longer
  /// listed then.
  bool has_open() {
    complete([](Target&) {});
    return !open_.empty();
  }
  /// Calls use(target) for all that are listed; they stay so unless all is complete.
  template <class Use>
  void complete(Use&& use) {
    std::erase_if(open_, [&](int rank) {
      use(target(rank));
      target(rank).listed = !target(rank).is_clean();
      return !target(rank).listed;
    });
  }

 private:
  std::vector<Target> targets_;
  const int own_;
  std::vector<int> open_;  // targets with operations that are not complete
  SequenceNumber issued_ = 0;
};

}  // namespace wherry::window
