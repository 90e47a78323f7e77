// A cached view of one MPI window: what this rank has read of the others' memory.
//
// Every call of the program on the window comes here, with the native call to be made if it is needed, and goes
// to the role that answers it: Gets, Writes or Completion. What is valid, and for how long (MPI 4.1, chapter 12):
//
// - transparent: what is read is valid until anything completes or synchronizes. So only gets of the same data that are
//   under way at the same time are joined. That is right for every program: data of a get may not be used before.
// - always_cache, user_defined: the program says that others do not write what it reads, or when they have.
// - In all modes the rank's own writes update or drop what they touch. A get that races with one is left to MPI, which
//   says nothing about its result, but what it brings is not kept.
//
// Gets of the own rank, of dynamic windows and of shared memory are native. So is whatever looks wrong: the library has
// the word on errors, except on ranges outside of the target's memory, which libraries do not check.
//
// Threads may call at once. No lock is held while the library waits.
#pragma once

#include <mpi.h>

#include <vector>

#include "window/completion.hpp"
#include "window/fetch_plan.hpp"
#include "window/gets.hpp"
#include "window/native_gets.hpp"
#include "window/window_state.hpp"
#include "window/writes.hpp"

namespace wherry::window {

class Window {
 public:
  /// memories: of all ranks. own: this one's rank. threads: whether several may call at once.
  Window(const mpi::Api& api, datatype::Types& types, MPI_Win win, const std::vector<TargetMemory>& memories,
         int own, const Options& options, bool threads)
      : common_(api, types, win, memories, own, options, threads) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// What other ranks of the node have read is looked for there before it is fetched. Before the first get; the cache
  /// outlives it.
  void share(cache::NodeCache& node) { common_.sharing.begin(node); }
  bool shares() const { return common_.sharing.is_on(); }

  /// score: how much more than others the data are worth keeping; positive.
  int get(const Region& origin, const TargetRegion& place, float score, const Native& native) {
    const Lock::Guard guard(common_.lock);
    return gets_.get(common_, origin, place, score, native);
  }
  /// request: a native one, and complete if the data were there.
  int rget(const Region& origin, const TargetRegion& place, MPI_Request* request, const Native& native) {
    const Lock::Guard guard(common_.lock);
    return gets_.rget(origin, place, request, native);
  }
  /// Get_accumulate and Fetch_and_op with MPI_NO_OP: an atomic read.
  int read_atomically(const Region& result, const TargetRegion& place, const Native& native) {
    const Lock::Guard guard(common_.lock);
    return gets_.read_atomically(result, place, native);
  }
  /// Put and Rput. The origin's data are read before the call returns.
  int put(const Region& origin, const TargetRegion& place, const Native& native) {
    const Lock::Guard guard(common_.lock);
    return writes_.put(origin, place, native);
  }
  /// Whatever else changes the target.
  int change(const TargetRegion& place, const Native& native) {
    const Lock::Guard guard(common_.lock);
    return writes_.change(place, native);
  }

  int flush(int rank, const Native& native) { return completion_.flush(rank, native); }
  int flush_all(const Native& native) { return completion_.flush_all(native); }
  int flush_local(int rank, const Native& native) { return completion_.flush_local(rank, native); }
  int flush_local_all(const Native& native) { return completion_.flush_local_all(native); }
  /// Win_unlock: ends the epoch at one target.
  int unlock(int rank, const Native& native) { return completion_.unlock(rank, native); }
  int unlock_all(const Native& native) { return completion_.unlock_all(native); }
  /// Fence and Win_complete: ends what is under way at all targets.
  int end_epoch(const Native& native) { return completion_.end_epoch(native); }
  /// Win_sync, Win_wait and Win_test: others may have written.
  int synchronize(const Native& native) { return completion_.synchronize(native); }

  /// Forgets all. Gets under way still complete. Where the ranks of a node share what they read, all count these calls
  /// alike.
  void invalidate();

  MPI_Win win() const { return common_.library.win(); }
  /// This process's rank in the window.
  int rank() const { return common_.operations.own(); }
  const Options& options() const { return common_.options; }
  /// There was none for a cache when it was to be made: all gets are native.
  bool lacks_memory() const {
    const Lock::Guard guard(common_.lock);
    return common_.cache.lacks_memory();
  }
  WindowStatistics statistics() const;
  /// How hits and memory have gone; empty if nothing was cached.
  std::vector<cache::Timeline::Point> timeline() const;
  /// LRU's; empty without CacheOptions::curve_samples.
  std::vector<cache::MissRatioCurve::Point> miss_ratio_curve() const;
  /// How the cache came to its size; see Cache::adjustments().
  std::vector<cache::Adjustment> adjustments() const;

 private:
  WindowState common_;
  // Each knows those before it.
  NativeGets native_gets_{common_};
  FetchPlan plan_{common_};
  HeldFetches held_{common_};
  Writes writes_{common_};
  Gets gets_{common_, native_gets_, plan_};
  Completion completion_{common_, native_gets_, held_, writes_};
};

}  // namespace wherry::window
