// Storage and index change their sizes, at the ends of epochs and a little at a time; the history doubles at once, each
// time the storage has.
#include "cache/cache.hpp"

namespace wherry::cache {
namespace {

constexpr std::size_t least_storage = std::size_t{16} << 10;
constexpr std::uint32_t live_ticks = 64;  // eight half-lives
constexpr std::size_t least_step = 256;   // buckets that are given back at once; more of a larger index

}  // namespace

CacheLoad Cache::load() const {
  return {.references = policy_.references(),
          .capacity_misses = statistics_.missed(Cause::capacity) + statistics_.missed(Cause::conflict),
          .storage_bytes = storage_.bytes(),
          .live_bytes = live_bytes()};
}

void Cache::adapt(const CacheLoad& load) {
  const std::size_t wanted = adaptation_.storage_bytes(load);
  if (wanted != storage_.bytes()) resize_storage(wanted);
  fit_index();
}

void Cache::resize_storage(std::size_t wanted) {
  const std::size_t before = storage_.bytes();
  if (wanted > before) {
    // What is not storage grows with it, about in proportion; the history as far as it may.
    const std::size_t rest = bytes() - storage_.committed() - history_.bytes() + history_.most_bytes();
    const std::size_t reserve = options_.ceiling_bytes / 16;
    const std::size_t most = options_.ceiling_bytes - std::min(options_.ceiling_bytes, rest + reserve);
    storage_.grow(std::min(wanted, std::max(most, before)));
    history_.grow(history_of(storage_.bytes()));
  } else {
    storage_.shrink(std::max(wanted, least_storage), [&](Ref ref) { return move_entry(ref); });
  }
  if (storage_.bytes() != before) note_adjustment();
}

void Cache::note_adjustment() {
  ++statistics_.adjustments;
  if (adjustments_.size() == most_adjustments) adjustments_.erase(adjustments_.begin());
  adjustments_.push_back({statistics_.lookups(), storage_.bytes()});
}

/// Gives buckets back when most of their slots are empty: their memory, and the room that they take in the processor's
/// caches.
void Cache::fit_index() {
  const auto hash_of = hash_of_entry();
  const std::size_t step = std::max(least_step, index_.buckets() / 4);
  for (std::size_t i = 0; i < step && index_.slots() > 4096 && index_.slots() > 8 * index_.size(); ++i)
    index_.shrink(hash_of, [&](Ref ref) { remove(ref, Cause::conflict); });
}

/// Moves an entry to wherever there is room; if there is none, what is worth least goes. One that is under way
/// stays.
bool Cache::move_entry(Ref ref) {
  Entry& old = entry(ref);
  if (!old.valid()) return false;
  Ref copy = 0;
  while ((copy = storage_.allocate(old.bytes + Entry::head)) == 0)
    if (evict_for(ref) == ref) return true;
  Entry& moved = entry(copy);
  moved.displacement = old.displacement;
  moved.target = old.target;
  moved.bytes = old.bytes;
  moved.heat = old.heat;
  moved.tick = old.tick;
  moved.score = old.score;
  moved.flight = 0;
  std::uint64_t at = 0;
  storage_.each_part(ref, Entry::head, old.bytes, [&](const std::byte* part, std::size_t size) {
    copy_in(moved, at, size, part);
    at += size;
  });
  index_.replace(hash_of_entry()(ref), ref, copy);
  PageIndex& pages = pages_of(old.bytes);
  pages.erase(old.range(), ref);
  pages.insert(moved.range(), copy);
  storage_.free(ref);
  return true;
}

/// From a sample: what the entries take that have been used lately.
std::size_t Cache::live_bytes() const {
  std::size_t seen = 0, live = 0;
  for (std::size_t i = 0; (i = index_.next_filled(i).bucket) < index_.buckets() && seen < 256; ++i)
    for (const Ref ref : index_.refs(i)) {
      if (ref == 0) continue;
      ++seen;
      live += policy_.tick() - entry(ref).tick < live_ticks;
    }
  return seen == 0 ? 0 : storage_.used() / seen * live;
}

}  // namespace wherry::cache
