// Whether a window has a cache, and whether it is asked.
//
// At first there is none. While gets are native anyway, nobody has to tell apart what is under way: calls on the
// window are not tracked, before there is a cache and while it rests.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cache/cache.hpp"
#include "window/operations.hpp"
#include "window/options.hpp"
#include "window/sharing.hpp"
#include "window/window_statistics.hpp"

namespace wherry::window {

class CacheUse {
 public:
  CacheUse(const Options& options, bool threads, Operations& operations, const Sharing& sharing);

  /// nullptr: there is none so far.
  cache::Cache* get() const { return cache_.get(); }
  cache::Cache* operator->() const { return cache_.get(); }
  /// There was no memory for one when it was to be made: all gets are native.
  bool lacks_memory() const { return without_memory_; }
  /// Whether the end of an epoch ends what is valid.
  bool forgets() const { return forgets_; }
  bool is_resting() const { return is_resting_; }
  bool holds_nothing() const { return cache_ == nullptr || is_resting_; }

  /// Whether the library sees all calls, so that nobody has to tell apart what is under way: in transparent mode only.
  /// Not where a cache may be made while another thread's operation begins.
  bool is_untracked() const { return may_be_untracked_ && holds_nothing(); }
  /// An operation that is not tracked begins.
  void note_untracked() { has_untracked_ = true; }
  /// Whether there were any since the last completion, which this is.
  bool end_untracked() { return std::exchange(has_untracked_, false); }
  /// An operation to a rank begins, which has a number if operations are tracked.
  void track(int rank) {
    if (is_untracked()) note_untracked();
    else operations_.issue(rank);
  }

  /// Before there is a cache: where a get may be native and nobody has to know where it writes to.
  bool is_awaited(Target& target, std::uint64_t bytes);
  /// False: there is no memory for one.
  bool make();
  /// After a completion, when nothing that a cache of transparent mode holds is valid. Once many gets went to the
  /// library without asking it and none is awaited, nothing is tracked until a target asks again: tracking costs as
  /// much as a get in shared memory. Not after each few gets, since all targets are gone through when that ends.
  /// bypassed: all gets that were cheaper without the cache.
  void rest(std::uint64_t bypassed);
  /// A target asks the cache again.
  void wake(std::uint64_t bypassed);

  void end_reading() {
    if (!holds_nothing()) cache_->end_epoch();
  }
  void report(WindowStatistics& statistics) const;

 private:
  const Options& options_;
  const bool forgets_, may_be_untracked_;
  Operations& operations_;
  const Sharing& sharing_;
  std::unique_ptr<cache::Cache> cache_;  // made at a get that may be cached
  CacheDue due_;                         // decides when
  bool has_untracked_ = false;           // operations since the last completion
  bool is_resting_ = false;              // targets that ask the cache end that
  bool without_memory_ = false;          // for a cache
  std::uint64_t rests_at_ = 0;           // gets that were native without asking it
};

}  // namespace wherry::window
