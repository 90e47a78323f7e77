#include "window/cache_use.hpp"

#include <algorithm>
#include <new>

#include "base/floating_point.hpp"

namespace wherry::window {
namespace {

constexpr std::uint64_t least_bypassed = 64;  // gets, and one for each target, before a cache rests

}  // namespace

CacheUse::CacheUse(const Options& options, bool threads, Operations& operations, const Sharing& sharing)
    : options_(options),
      forgets_(options.cache.mode == cache::Mode::transparent),
      may_be_untracked_(forgets_ && options.bypass && !threads),
      operations_(operations),
      sharing_(sharing),
      due_(options.without_cache_s) {}

bool CacheUse::is_awaited(Target& target, std::uint64_t bytes) {
  if (cache_ != nullptr || without_memory_ || !options_.bypass || !forgets_ || sharing_.is_on()) return false;
  const bool is_due = computed([&] {
    due_.made(1 + target.cost_benefit.skip_lookups(),
              target.cost_benefit.plain_s() * times_as_long(static_cast<double>(bytes)));
    return due_.is_due();
  });
  if (!is_due) return true;
  for (Target& each : operations_.targets()) each.cost_benefit.end_skipping();
  return false;
}

bool CacheUse::make() {
  if (cache_ != nullptr) return true;
  if (without_memory_) return false;
  try {
    operations_.reserve();
    cache_ = std::make_unique<cache::Cache>(options_.cache);
    if (may_be_untracked_) operations_.suspect_all();
  } catch (const std::bad_alloc&) {
    without_memory_ = true;
  }
  return !without_memory_;
}

void CacheUse::rest(std::uint64_t bypassed) {
  if (!may_be_untracked_ || is_resting_ || cache_ == nullptr || sharing_.is_on()) return;
  if (bypassed < rests_at_) return;
  is_resting_ = rests_at_ != 0 && std::ranges::all_of(operations_.open(), [this](int rank) {
                  return operations_.target(rank).awaits_nothing();
                });
  rests_at_ = bypassed + least_bypassed + operations_.targets().size();
}

void CacheUse::wake(std::uint64_t bypassed) {
  is_resting_ = false;
  end_reading();  // epochs have ended meanwhile
  rests_at_ = bypassed + least_bypassed + operations_.targets().size();
  operations_.suspect_all();
}

void CacheUse::report(WindowStatistics& statistics) const {
  if (cache_ == nullptr) return;
  statistics.cache = cache_->statistics();
  statistics.left_out(NotCached::exceeds) = {statistics.cache.too_large, statistics.cache.too_large_bytes};
  statistics.left_out(NotCached::worth_less) = {statistics.cache.refused, statistics.cache.refused_bytes};
  // For the cache these are fetched, from whatever place.
  statistics.cache.bytes_fetched -= statistics.node.found_bytes;
  statistics.cache.bytes_saved += statistics.node.found_bytes;
  statistics.entries = cache_->entries();
  statistics.bytes = cache_->bytes();
  statistics.ceiling_bytes = options_.cache.ceiling_bytes;
}

}  // namespace wherry::window
