#include "cache/cache.hpp"

#include <unistd.h>

#include <new>

#include "base/error.hpp"
#include "base/floating_point.hpp"

namespace wherry::cache {
namespace {

// Shares of the ceiling that nothing exceeds at first, so that any sizes asked for fit under any ceiling.
std::size_t first_storage(const CacheOptions& options) {
  require(options.ceiling_bytes >= least_ceiling,
          "the ceiling of a cache is less than 64 KiB, too little for a few entries; raise it or do without "
          "the cache");
  return std::min(options.storage_bytes, options.ceiling_bytes / 2);
}

std::size_t first_buckets(const CacheOptions& options) {
  const std::size_t wanted = options.index_entries / Index::slots_per_bucket + 1;
  return std::min(wanted, options.ceiling_bytes / 8 / 64);
}

/// To touch more than there is ends the program.
const CacheOptions& affordable(const CacheOptions& options) {
  const auto machine =
      static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (first_storage(options) + first_buckets(options) * 64 > machine) throw std::bad_alloc();
  return options;
}

// For 256 Ki ranges that are gone, or as much as belongs to more storage.
std::size_t first_history(const CacheOptions& options) {
  constexpr std::size_t usual = std::size_t{4} << 20;
  return std::max(usual, history_of(first_storage(options)));
}

}  // namespace

Cache::Cache(const CacheOptions& options)
    : options_(affordable(options)),
      storage_(first_storage(options), options.ceiling_bytes),
      index_(first_buckets(options), options.ceiling_bytes / 8 / 64),
      fine_(fine_page_bits, options.ceiling_bytes),
      coarse_(coarse_page_bits, options.ceiling_bytes),
      history_(first_history(options), history_of(options.ceiling_bytes)),
      curve_(options.curve_samples) {
  // What the index finds in an empty slot must be no range's entry.
  entry(0).target = ~std::uint32_t{0};
}

void Cache::copy_in(Entry& entry, std::uint64_t from, std::uint64_t bytes, const std::byte* data) {
  if (entry.block.next == 0) [[likely]]
    return copy_bytes(entry.data() + from, data, bytes);
  storage_.each_part(ref_of(entry), Entry::head + from, bytes, [&](std::byte* part, std::size_t size) {
    std::memcpy(part, data, size);
    data += size;
  });
}

void Cache::filled(Ticket ticket, const std::byte* bytes) {
  const Fetch& fetch = fetches_[ticket];
  if (fetch.entry != 0 && epoch_.is_current(fetch.generation)) {
    Entry& filled = entry(fetch.entry);
    copy_in(filled, fetch.offset, fetch.bytes, bytes);
    Ticket* link = &filled.flight;
    while (*link != ticket) link = &fetches_[*link].next;
    *link = fetch.next;
  }
  fetches_.end(ticket, bytes);
}

void Cache::passed_on(Ticket ticket, const std::byte* bytes) {
  const Fetch& fetch = fetches_[ticket];
  if (fetch.entry != 0 && epoch_.is_current(fetch.generation)) remove(fetch.entry);
  fetches_.end(ticket, bytes);
}

void Cache::written(const TargetRange& range, const std::byte* bytes) {
  require(range.end() >= range.displacement,
          "a write ends behind the last displacement there is; make it shorter");
  if (index_.size() == 0) return;
  collect(range);
  for (const Ref ref : found_) {
    Entry& hit = entry(ref);
    if (bytes == nullptr || !hit.valid()) {
      ++statistics_.dropped;
      remove(ref);
      continue;
    }
    const std::uint64_t begin = std::max(hit.displacement, range.displacement);
    const std::uint64_t end = std::min(hit.end(), range.end());
    copy_in(hit, begin - hit.displacement, end - begin, bytes + (begin - range.displacement));
    ++statistics_.updated;
  }
}

void Cache::invalidate() {
  if (index_.size() == 0) return;
  epoch_.invalidate();
  index_.clear();
  fine_.clear();
  coarse_.clear();
  storage_.clear();
  ++statistics_.invalidations;
}

void Cache::end_epoch() {
  const bool adapts = options_.adaptive && adaptation_.due(policy_.references());
  const CacheLoad before = adapts ? load() : CacheLoad{};
  // First: then nothing has to be moved for other sizes.
  if (options_.mode == Mode::transparent) invalidate();
  if (adapts) computed([&] { adapt(before); });
}

std::size_t Cache::bytes() const {
  return storage_.committed() + index_.bytes() + fine_.bytes() + coarse_.bytes() + history_.bytes();
}

}  // namespace wherry::cache
