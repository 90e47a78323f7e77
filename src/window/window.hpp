// A cached view of one MPI window: what this rank has read of the others' memory.
//
// Every call of the program on the window comes here, with the library's own call to be made if it is needed. What is
// valid, and for how long (MPI 4.1, chapter 12):
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

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "cache/cache.hpp"
#include "datatype/byte_blocks.hpp"
#include "datatype/type_facts.hpp"
#include "datatype/type_maps.hpp"
#include "mpi/api.hpp"
#include "window/destinations.hpp"
#include "window/options.hpp"
#include "window/sharing.hpp"
#include "window/target.hpp"
#include "window/typical_time.hpp"
#include "window/window_statistics.hpp"

namespace wherry::window {

/// The native call with the program's own arguments, to be made if it is needed. Refers to a callable that outlives it:
/// a hit does not call it, and must not pay for a copy of the arguments.
class Native {
 public:
  template <class Call>
  explicit(false) Native(const Call& call)
      : call_(&call), run_([](const void* made) -> int { return (*static_cast<const Call*>(made))(); }) {}

  int operator()() const { return run_(call_); }

 private:
  const void* call_;
  int (*run_)(const void*);
};

/// `count` elements of `type` at a displacement in the memory of `rank`.
struct Place {
  int rank;
  MPI_Aint displacement;
  long long count;
  MPI_Datatype type;
};

using run::Region;

class Window {
 public:
  /// segments: of all ranks. own: this one's rank. threads: whether several may call at once.
  Window(const mpi::Api& api, Types& types, MPI_Win win, const std::vector<Segment>& segments, int own,
         const Options& options, bool threads);

  /// What other ranks of the node have read is looked for there before it is fetched. Before the first get; the cache
  /// outlives it.
  void share(cache::NodeCache& node) { sharing_.begin(node); }
  bool shares() const { return sharing_.is_on(); }

  /// score: how much more than others the data are worth keeping; positive.
  int get(const Region& origin, const Place& place, float score, const Native& native) {
    const Guard guard(*this);
    if (is_resting_ && is_rank(place.rank)) [[unlikely]] {
      if (!targets_[static_cast<std::size_t>(place.rank)].account.asks_cache())
        return get_untracked(place, native);
      wake();
    }
    cache::Range range;
    if (!is_plain(origin, place, range)) [[unlikely]]
      return is_rank(place.rank) && targets_[static_cast<std::size_t>(place.rank)].account.skips_lookup()
                 ? get_untracked(place, native)
                 : get_any(origin, place, score, native);
    Target& target = targets_[range.target];
    auto* const to = static_cast<std::byte*>(const_cast<void*>(origin.address));
    if (!target.account.asks_cache()) [[unlikely]]
      return expect_librarys(origin, place.rank, bypass(NotCached::cheaper, place.rank, range.bytes, native));
    if (range.bytes <= by_blocks_below_) [[unlikely]]
      return get_by_blocks(target, range, to, score, native);
    const cache::Answer answer = cache_->probe(range, to, score);
    if (answer != cache::Answer::hit) [[unlikely]]
      return get_missing(target, range, to, score, answer, native);
    target.account.hit(range.bytes);
    if (destinations_.may_touch(to, range.bytes)) [[unlikely]]
      note_written(range, to);
    return without_call();
  }
  /// request: of the library's kind, and complete if the data were there.
  int rget(const Region& origin, const Place& place, MPI_Request* request, const Native& native);
  /// Get_accumulate and Fetch_and_op with MPI_NO_OP: an atomic read.
  int read_atomically(const Region& result, const Place& place, const Native& native);
  /// Put and Rput. The origin's data are read before the call returns.
  int put(const Region& origin, const Place& place, const Native& native);
  /// Whatever else changes the target.
  int change(const Place& place, const Native& native);

  int flush(int rank, const Native& native);
  int flush_all(const Native& native);
  int flush_local(int rank, const Native& native);
  int flush_local_all(const Native& native);
  /// Win_unlock: ends the epoch at one target.
  int unlock(int rank, const Native& native);
  int unlock_all(const Native& native);
  /// Fence and Win_complete: ends what is under way at all targets.
  int end_epoch(const Native& native);
  /// Win_sync, Win_wait and Win_test: others may have written.
  int synchronize(const Native& native);

  /// Forgets all. Gets under way still complete. Where the ranks of a node share what they read, all count these calls
  /// alike.
  void invalidate();

  MPI_Win win() const { return win_; }
  /// This process's rank in the window.
  int rank() const { return own_; }
  const Options& options() const { return options_; }
  /// There was none for a cache when it was to be made: all gets are native.
  bool lacks_memory() const {
    const Guard guard(*this);
    return without_memory_;
  }
  Statistics statistics() const;
  /// How hits and memory have gone; empty if nothing was cached.
  std::vector<cache::Timeline::Point> timeline() const;
  /// LRU's; empty without CacheOptions::curve_samples.
  std::vector<cache::MissRatioCurve::Point> miss_ratio_curve() const;
  /// How the cache came to its size; see Cache::adjustments().
  std::vector<cache::Adjustment> adjustments() const;

 private:
  class Guard {
   public:
    explicit Guard(const Window& window) : lock_(window.mutex_, std::defer_lock) {
      if (window.threads_) lock_.lock();
    }

   private:
    std::unique_lock<std::mutex> lock_;
  };
  /// Of a get: at the target, and at the origin.
  struct Shapes {
    std::shared_ptr<const Shape> there, here;
    NotCached why = NotCached::arguments;  // the library serves it
  };
  enum class Server { cache, library, uncached, nobody };  // uncached: the library, until there is a cache

  /// The common case: origin and target are `count` elements of the same predefined type, which is the last one's.
  bool is_plain(const Region& origin, const Place& place, cache::Range& range) {
    if (place.type != plain_type_ || origin.type != place.type || origin.count != place.count) return false;
    if (!is_rank(place.rank)) return false;
    const Target& target = targets_[static_cast<std::size_t>(place.rank)];
    std::int64_t begin = 0, bytes = 0;
    if (__builtin_mul_overflow(std::int64_t{place.displacement}, target.segment.unit, &begin) ||
        __builtin_mul_overflow(std::int64_t{place.count}, plain_size_, &bytes))
      return false;
    if (begin < 0 || bytes <= 0 || bytes > most_bytes || begin > target.segment.bytes - bytes) return false;
    if (!target.is_cached) return false;
    range = {static_cast<std::uint32_t>(place.rank), static_cast<std::uint64_t>(begin),
             static_cast<std::uint64_t>(bytes)};
    return true;
  }
  bool is_rank(int rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < targets_.size(); }

  bool caches_nothing() const { return cache_ == nullptr || is_resting_; }
  /// Whether the library sees all calls, so that nobody has to tell apart what is under way: in transparent mode,
  /// before there is a cache and while it rests. Not where a cache may be made while another thread's operation begins.
  bool is_untracked() const { return may_be_untracked_ && caches_nothing(); }
  /// Nothing is known to be under way.
  int flush_untracked(const Native& native) {
    if (is_untracked()) return has_untracked_ = false, native();
    return ++statistics_.flushes_saved, without_call();
  }

  /// MPI_SUCCESS. What the library need not be called for must not keep it from making progress.
  int without_call() {
    if ((++without_call_ & 127) == 0) [[unlikely]]
      make_progress();
    return MPI_SUCCESS;
  }

  // Gets: gets.cpp.
  Server examine(const Region& origin, const Place& place, Shapes& shapes);
  int get_any(const Region& origin, const Place& place, float score, const Native& native);
  int get_missing(Target& target, const cache::Range& range, std::byte* to, float score, cache::Answer answer,
                  const Native& native);
  int get_by_blocks(Target& target, const cache::Range& range, std::byte* to, float score,
                    const Native& native);
  int get_shaped(const Region& origin, Shapes shapes, const Place& place, float score, const Native& native);
  int rget_shaped(const Region& origin, const Shapes& shapes, const Place& place, MPI_Request* request,
                  const Native& native);
  template <class Look>
  cache::Answer look_up(const Place& place, const Shape& shape, std::byte* to, Look&& look);
  void note_missing(const cache::Range& range, std::byte* to);
  bool found_on_node(const Part& part);
  /// Whether something of what was looked up last will be copied when it has come.
  bool waits(cache::Answer answer) const {
    return answer == cache::Answer::pending || (answer == cache::Answer::missing && cache_->waits());
  }
  bool is_inside(const Place& place, const Shape& shape) const;
  int refuse(int code);
  bool waits_for_cache(Target& target, std::uint64_t bytes);
  void rest();
  void wake();
  void suspect_operations();
  bool make_cache();

  // What goes to the library: fetches.cpp.
  static Block block_of(const cache::Range& range) {
    return {static_cast<std::int64_t>(range.displacement), static_cast<std::int64_t>(range.bytes)};
  }
  static std::uint64_t bytes_of(std::span<const Part> parts);
  bool asks_for_all(std::uint64_t bytes) const;
  Number begin_fetch(Target& target, int rank, std::uint64_t bytes);
  void note_written(const cache::Range& range, const std::byte* to);
  void note_coming(const cache::Range& range, const std::byte* to, Number last);
  void note_answer(cache::Answer answer, const cache::Range& range, const std::byte* to);
  void await(Target& target, const Part& part, Number number, int code);
  int fetch_absent(Target& target, const cache::Range& range, std::byte* to, float score,
                   const Native& native);
  int fetch(int rank, std::uint64_t bytes, const Native& native, bool all);
  int fetch_parts(std::span<const Part> parts);
  int get_blocks(std::byte* to, const Blocks& here, int rank, const Blocks& there, MPI_Request* request);
  int send_held(Target& target);
  int send_joined(std::span<const Part> held);
  int serve_waiters(const Target& target);
  int send_rest(int rank);
  int send_all_rest();
  Amount& left_out(NotCached why) { return statistics_.not_cached[static_cast<std::size_t>(why)]; }
  std::uint64_t bytes_of(const Place& place);
  int pass(NotCached why, const Place& place, const Native& native);
  int bypass(NotCached why, int rank, std::uint64_t bytes, const Native& native);
  int get_untracked(const Place& place, const Native& native);
  int expect_librarys(const Region& origin, int rank, int code);
  int run(Target& target, std::uint64_t bytes, const Native& native, std::size_t gets = 1);
  void make_progress();

  // Writes: writes.cpp.
  void note_write(const Place& place, const Shape& shape, const std::byte* data);
  void note_range(Target& target, const cache::Range& range, const std::byte* data);

  // Completion: completion.cpp.
  /// What a completion covers: the operations up to a number, those too that were held back, which may have failed.
  struct Covered {
    Number last = 0;
    int sent = MPI_SUCCESS;
    Number operations = 0;        // how many these are
    bool timed = false;           // one of them was: this call should be, too
    TypicalTime* idle = nullptr;  // what this call takes with nothing to complete; nullptr: nothing
    bool notes_idle = false;      // nothing is to be completed, and the call is timed to know that

    int with(int code) const { return sent != MPI_SUCCESS ? sent : code; }
  };
  /// How it went.
  struct Done {
    Number last;
    int code;
    std::optional<PlainTime> time;  // of the completion, if it was taken
  };
  /// What takes the operations of a target up to a state that a completion gives them.
  using Reach = void (Window::*)(Target&, const Done&);

  Covered cover(int rank);
  Covered cover_all();
  static Covered cover_unlock(Covered covered, TypicalTime& idle);
  Done run_completion(const Covered& covered, const Native& native);
  template <class Complete>
  void conclude(Complete&& complete);
  int conclude_at(int rank, const Done& done, Reach reach);
  int conclude_all(const Done& done, Reach reach);
  Number issue(int rank);
  void track(int rank);
  bool needs(int rank, Number Target::* reached);
  bool has_open();
  void arrive(Target& target, const Done& done);
  static void settle_time(Target& target, const Done& done);
  void complete(Target& target, const Done& done);
  void complete_locally(Target& target, const Done& done);
  int flush_target(int rank, Number Target::* reached, const Native& native, Reach reach);
  int flush_open(const Native& native, Reach reach);
  template <class Complete>
  void complete_open(Complete&& complete);
  /// Whether the end of an epoch ends what is valid.
  bool forgets() const { return options_.cache.mode == cache::Mode::transparent; }
  void find_mixed();
  void find_mixed_for_waiters();
  void forget_writes(Target& target, Number last);
  void end_reading();

  static constexpr std::uint64_t least_bypassed = 64;    // gets, and one for each target, before it rests
  static constexpr std::int64_t most_bytes = INT32_MAX;  // of one transfer
  static constexpr std::uint64_t most_blocks = 8;        // that a get may be long to fetch blocks
  static constexpr std::size_t most_parts = 64;          // that are told apart in one get

  const mpi::Api& api_;
  Types& types_;
  const MPI_Win win_;
  const int own_;
  const Options options_;
  const bool threads_;
  const bool may_be_untracked_;
  const std::uint64_t by_blocks_below_;  // gets of at most so many bytes fetch blocks
  mutable std::mutex mutex_;

  std::unique_ptr<cache::Cache> cache_;  // made at a get that may be cached
  CacheDue due_;                         // decides when
  bool has_untracked_ = false;           // operations since the last completion
  bool is_resting_ = false;              // targets that ask the cache end that
  std::uint64_t rests_at_ = 0;           // gets that went to the library without asking it
  bool without_memory_ = false;          // for a cache
  MPI_Datatype plain_type_ = MPI_DATATYPE_NULL;
  std::int64_t plain_size_ = 0;
  MPI_Datatype passed_type_ = MPI_DATATYPE_NULL;  // predefined, of a get that the library served
  std::int64_t passed_size_ = 0;
  std::vector<Target> targets_;
  std::vector<int> open_;  // targets with operations that are not complete
  Number issued_ = 0;
  unsigned without_call_ = 0;
  TypicalTime idle_unlock_, idle_unlock_all_;  // what these take with nothing to complete
  Statistics statistics_;
  Sharing sharing_;
  Destinations destinations_;
  std::vector<Part> parts_;  // what is missing for the get at hand
};

}  // namespace wherry::window
