// Which ranges have an entry: admission, eviction, removal.
#include <limits>

#include "cache/cache.hpp"

namespace wherry::cache {
namespace {

constexpr unsigned most_samples = 8;
constexpr float worth_anything = std::numeric_limits<float>::infinity();

}  // namespace

/// Makes an entry with undefined bytes, or returns 0: too large, or worth less than what would have to go.
Ref Cache::reserve(const TargetRange& range, std::uint64_t own, float heat, float score,
                   Admission admission) {
  const std::uint64_t footprint = Storage::footprint(range.bytes + Entry::head);
  if (range.bytes > std::numeric_limits<std::uint32_t>::max() - Entry::head ||
      footprint > options_.ceiling_bytes / 4)
    return ++statistics_.too_large, statistics_.too_large_bytes += range.bytes, 0;
  const float worth =
      admission == Admission::by_worth ? Policy::worth_of_candidate(heat, score, footprint) : worth_anything;
  if (footprint > storage_.bytes() / 4 || !deserves_memory(worth, footprint) || !make_room(range, worth))
    return refuse(range);
  Ref ref = 0;
  while ((ref = storage_.allocate(range.bytes + Entry::head)) == 0)
    if (!evict(worth)) return refuse(range);
  Entry& made = entry(ref);
  made.displacement = range.displacement;
  made.target = range.target;
  made.bytes = static_cast<std::uint32_t>(range.bytes);
  made.heat = heat;
  made.tick = policy_.tick();
  made.score = score;
  made.flight = 0;
  if (!put_in_index(ref, own)) return storage_.free(ref), refuse(range);
  pages_of(range.bytes).insert(range, ref);
  return ref;
}

Ref Cache::refuse(const TargetRange& range) {
  ++statistics_.refused;
  statistics_.refused_bytes += range.bytes;
  return 0;
}

/// The last sixteenth of the memory is not given away because it happens to be free: what evictions leave over
/// would go to whatever comes next, worthy or not.
bool Cache::deserves_memory(float worth, std::size_t footprint) {
  if (storage_.used() + footprint <= storage_.bytes() - storage_.bytes() / 16) return true;
  float least = worth_anything;
  return least_of_sample(least) == 0 || least <= worth;
}

/// Room in the page index: memory if there is some, else at the cost of others.
bool Cache::make_room(const TargetRange& range, float worth) {
  PageIndex& pages = pages_of(range.bytes);
  while (!pages.has_room_for(range)) {
    if (bytes() + PageIndex::step_bytes <= options_.ceiling_bytes && pages.extend()) continue;
    if (!evict(worth)) return false;
  }
  return true;
}

bool Cache::put_in_index(Ref ref, std::uint64_t own) {
  const auto hash_of = hash_of_entry();
  // One bucket for every few entries: the index grows with what it holds, and no get waits for more than one.
  constexpr std::size_t page = 4096;
  if (options_.adaptive && 5 * index_.size() >= 4 * index_.slots() &&
      bytes() + page <= options_.ceiling_bytes)
    index_.grow(hash_of);
  if (index_.insert(own, ref, hash_of)) return true;
  evict_from_places(own);
  return index_.insert(own, ref, hash_of);
}

float Cache::worth(const Entry& entry) const {
  return policy_.worth(entry, Storage::footprint(entry.bytes + Entry::head));
}

/// Evicts the least of a sample unless it is worth more than that, or there is none that may go.
bool Cache::evict(float most) {
  float least = worth_anything;
  const Ref victim = least_of_sample(least);
  if (victim == 0 || least > most) return false;
  remove(victim, Cause::capacity);
  ++statistics_.evictions;
  return true;
}

/// Evicts the least of a sample if it is worth less than this entry, else this one; returns which.
Ref Cache::evict_for(Ref ref) {
  float least = worth(entry(ref));
  const Ref victim = least_of_sample(least), gone = victim != 0 ? victim : ref;
  remove(gone, Cause::capacity);
  ++statistics_.evictions;
  return gone;
}

/// The entry of a sample that is worth least, and what it is worth; 0 if none may go that is worth less than
/// `least`.
///
/// Entries of buckets in a row are as good as drawn one by one, for their hashes put them there.
Ref Cache::least_of_sample(float& least) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  std::size_t at = random_ % index_.buckets(), left = index_.buckets();
  Ref found = 0;
  // A whole sample may be under way and stay. Not for ever: a get must not wait for a search.
  for (unsigned sample = 0; sample < most_samples && left > 0 && found == 0; ++sample)
    for (const Ref ref : draw(at, left)) {
      const Entry& candidate = entry(ref);
      if (!candidate.valid() || worth(candidate) >= least) continue;
      least = worth(candidate);
      found = ref;
    }
  return found;
}

/// The entries of buckets from `at` on, until there are enough or no buckets are left.
std::span<const Ref> Cache::draw(std::size_t& at, std::size_t& left) {
  std::size_t drawn = 0;
  while (drawn < sample_size) {
    const auto [next, looked] = index_.next_filled(at);
    statistics_.examined += looked;
    if (next - at >= left) return left = 0, std::span(sample_.data(), drawn);
    left -= next - at;
    at = next;
    if (at == index_.buckets()) {
      at = 0;
      continue;
    }
    for (const Ref ref : index_.refs(at)) {
      if (ref == 0) continue;
      __builtin_prefetch(&entry(ref));
      sample_[drawn++] = ref;
    }
    --left;
    if (++at == index_.buckets()) at = 0;
  }
  return {sample_.data(), drawn};
}

/// Room in one of the two buckets of a hash, if any entry there may go.
void Cache::evict_from_places(std::uint64_t hash) {
  Ref victim = 0;
  float least = worth_anything;
  for (const auto& place : index_.places(hash))
    for (const Ref ref : place) {
      if (ref == 0 || !entry(ref).valid() || worth(entry(ref)) >= least) continue;
      least = worth(entry(ref));
      victim = ref;
    }
  if (victim == 0) return;
  remove(victim, Cause::conflict);
  ++statistics_.conflicts;
}

/// As remove(), and remembers it.
void Cache::remove(Ref ref, Cause cause) {
  const Entry& gone = entry(ref);
  history_.note(hash_of_entry()(ref), gone.heat, gone.tick, epoch_.generation(), cause);
  remove(ref);
}

void Cache::remove(Ref ref) {
  Entry& gone = entry(ref);
  detach_fetches(gone);
  index_.erase(hash_of_entry()(ref), ref);
  pages_of(gone.bytes).erase(gone.range(), ref);
  storage_.free(ref);
}

/// Fetches for an entry that goes will only serve those who wait for them.
void Cache::detach_fetches(Entry& entry) {
  for (Ticket ticket = entry.flight; ticket != 0; ticket = fetches_[ticket].next) fetches_[ticket].entry = 0;
}

}  // namespace wherry::cache
