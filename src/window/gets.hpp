// The gets of a cached window: who can serve each, and the inline path of those whose data are there.
#pragma once

#include <cstdint>
#include <memory>

#include "window/fetch_plan.hpp"
#include "window/native_gets.hpp"
#include "window/window_state.hpp"

namespace wherry::window {

class Gets {
 public:
  Gets(WindowState& common, NativeGets& native_gets, FetchPlan& plan);

  /// score: how much more than others the data are worth keeping; positive.
  /// common: what it was made with; from there, a hit need not load where that is.
  int get(WindowState& common, const Region& origin, const TargetRegion& place, float score,
          const Native& native) {
    if (common.cache.is_resting() && common.operations.is_rank(place.rank)) [[unlikely]] {
      if (!common.operations.target(place.rank).cost_benefit.asks_cache())
        return native_gets_.get_untracked(place, native);
      common.cache.wake(native_gets_.bypassed());
    }
    cache::TargetRange range;
    if (!is_plain(common, origin, place, range)) [[unlikely]]
      return skips_lookup(place.rank) ? native_gets_.get_untracked(place, native)
                                      : get_any(origin, place, score, native);
    Target& target = common.operations.target(range);
    auto* const to = static_cast<std::byte*>(const_cast<void*>(origin.address));
    if (!target.cost_benefit.asks_cache()) [[unlikely]]
      return bypass(origin, place.rank, range.bytes, native);
    if (range.bytes <= by_blocks_below_) [[unlikely]]
      return get_by_blocks(target, range, to, score, native);
    const cache::Answer answer = common.cache->probe(range, to, score);
    if (answer != cache::Answer::hit) [[unlikely]]
      return get_missing(target, range, to, score, answer, native);
    target.cost_benefit.hit(range.bytes);
    if (common.overlaps.may_touch(to, range.bytes)) [[unlikely]]
      common.overlaps.note_written(range, to);
    return common.library.without_call();
  }
  /// request: a native one, and complete if the data were there.
  int rget(const Region& origin, const TargetRegion& place, MPI_Request* request, const Native& native);
  /// Get_accumulate and Fetch_and_op with MPI_NO_OP: an atomic read.
  int read_atomically(const Region& result, const TargetRegion& place, const Native& native);

 private:
  /// Of a get: at the target, and at the origin.
  struct BothMaps {
    std::shared_ptr<const datatype::TypeMap> there, here;
    NotCached why = NotCached::arguments;  // the library serves it
  };
  enum class Server { cache, library, uncached, nobody };  // uncached: the library, until there is a cache

  /// The common case: origin and target are `count` elements of the same predefined type, which is the last one's.
  static bool is_plain(const WindowState& common, const Region& origin, const TargetRegion& place,
                       cache::TargetRange& range) {
    const PlainType& plain = common.plain;
    if (place.type != plain.type || origin.type != place.type || origin.count != place.count) return false;
    if (!common.operations.is_rank(place.rank)) return false;
    const Target& target = common.operations.target(place.rank);
    std::int64_t begin = 0, bytes = 0;
    if (__builtin_mul_overflow(std::int64_t{place.displacement}, target.memory.unit, &begin) ||
        __builtin_mul_overflow(std::int64_t{place.count}, plain.size, &bytes))
      return false;
    if (begin < 0 || bytes <= 0 || bytes > most_bytes || begin > target.memory.bytes - bytes) return false;
    if (!target.is_cached) return false;
    range = {static_cast<std::uint32_t>(place.rank), static_cast<std::uint64_t>(begin),
             static_cast<std::uint64_t>(bytes)};
    return true;
  }
  /// Before there is a cache.
  bool skips_lookup(int rank) {
    return common_.operations.is_rank(rank) && common_.operations.target(rank).cost_benefit.skips_lookup();
  }

  Server examine(const Region& origin, const TargetRegion& place, BothMaps& maps);
  int bypass(const Region& origin, int rank, std::uint64_t bytes, const Native& native);
  int get_any(const Region& origin, const TargetRegion& place, float score, const Native& native);
  int get_missing(Target& target, const cache::TargetRange& range, std::byte* to, float score,
                  cache::Answer answer, const Native& native);
  int get_by_blocks(Target& target, const cache::TargetRange& range, std::byte* to, float score,
                    const Native& native);
  int get_mapped(const Region& origin, BothMaps maps, const TargetRegion& place, float score,
                 const Native& native);
  int rget_mapped(const Region& origin, const BothMaps& maps, const TargetRegion& place, MPI_Request* request,
                  const Native& native);
  struct MissingBlocks;
  MissingBlocks missing_blocks(const Region& origin, const datatype::TypeMap& here,
                               const std::byte* packed) const;
  template <class Look>
  cache::Answer look_up(const TargetRegion& place, const datatype::TypeMap& map, std::byte* to, Look&& look);

  WindowState& common_;
  NativeGets& native_gets_;
  FetchPlan& plan_;
  const std::uint64_t by_blocks_below_;  // gets of at most so many bytes fetch blocks
};

}  // namespace wherry::window
