#include "cache/adaptation.hpp"

#include <doctest/doctest.h>

#include "replay/simulation.hpp"

using namespace replay;
using namespace wherry::cache;

namespace {

constexpr std::size_t ceiling = std::size_t{8} << 20;

CacheOptions starting(std::size_t storage_bytes, std::size_t index_entries, bool adaptive) {
  return {.mode = Mode::always_cache,
          .ceiling_bytes = ceiling,
          .storage_bytes = storage_bytes,
          .index_entries = index_entries,
          .adaptive = adaptive};
}

std::uint64_t hits_from(const Trace& trace, const CacheOptions& options) {
  Cache cache(options);
  simulate(cache, trace, 100);
  CHECK(cache.bytes() <= ceiling);
  return cache.statistics().full_hits;
}

}  // namespace

TEST_CASE("adaptation: within 5% of the best fixed setting from any starting setting") {
  const Trace traces[] = {
      zipf("zipf 0.8", 5000, 0.8, 60000, 0, 1),
      zipf("zipf 0.9, changing", 5000, 0.9, 60000, 10000, 3),
      clustering("clustering, scale 13", 13, 16, 5),
      loop("loop", 2000, 100000),
  };
  constexpr std::size_t starts[][2] = {
      {std::size_t{16} << 10, 64}, {std::size_t{256} << 10, 2000}, {std::size_t{4} << 20, 20000}};
  for (const Trace& trace : traces) {
    CAPTURE(trace.name);
    std::uint64_t best = 0;
    for (const auto& [storage, entries] : starts)
      best = std::max(best, hits_from(trace, starting(storage, entries, false)));
    for (const auto& [storage, entries] : starts) {
      CAPTURE(storage);
      CAPTURE(entries);
      const std::uint64_t adapted = hits_from(trace, starting(storage, entries, true));
      CHECK(static_cast<double>(adapted) >= 0.95 * static_cast<double>(best));
    }
  }
}

TEST_CASE("adaptation: memory follows what the program does, and what stays is not lost") {
  Cache cache(starting(std::size_t{16} << 10, 64, true));
  // 1600 KiB, over and over: all of it is kept in the end.
  simulate(cache, loop("large", 6000, 120000), 100);
  const std::size_t grown = cache.storage_bytes(), entries = cache.entries();
  CHECK(entries == 6000);
  CHECK(grown >= 6000 * footprint(200));
  const std::uint64_t before = cache.statistics().full_hits;
  // A small part of it, for long.
  simulate(cache, loop("small", 100, 1000000), 100);
  CHECK(cache.storage_bytes() <= grown / 4);
  CHECK(cache.index_slots() < 6000);
  CHECK(cache.statistics().full_hits - before == 1000000);
}

TEST_CASE("adaptation: an index that is far too large is soon given back") {
  Cache cache(starting(std::size_t{64} << 10, std::size_t{1} << 17, true));
  CHECK(cache.index_slots() >= std::size_t{1} << 17);
  // Twelve decisions.
  simulate(cache, loop("small", 400, 3200), 100);
  CHECK(cache.index_slots() <= 8192);
  CHECK(cache.entries() == 400);
}

TEST_CASE("adaptation: memory never exceeds the ceiling") {
  for (const std::size_t most : {std::size_t{64} << 10, std::size_t{100} << 10, std::size_t{1} << 20}) {
    CAPTURE(most);
    Cache cache({.mode = Mode::always_cache, .ceiling_bytes = most});
    CHECK(cache.bytes() <= most);
    simulate(cache, zipf("zipf 0.8", 5000, 0.8, 50000, 0, 1), 10);
    CHECK(cache.bytes() <= most);
    CHECK(cache.bytes() > most / 2);
    CHECK(cache.statistics().full_hits > 10000);
  }
}

TEST_CASE("adaptation: a ceiling of many gigabytes costs nothing before there is something to keep") {
  const Cache usual({.mode = Mode::always_cache});
  const Cache large({.mode = Mode::always_cache, .ceiling_bytes = std::size_t{1024} << 30});
  CHECK(large.bytes() == usual.bytes());
  CHECK(usual.bytes() < std::size_t{6} << 20);
}

TEST_CASE(
    "adaptation: what is remembered of ranges that are gone grows with the storage, below the ceiling") {
  constexpr std::size_t most = std::size_t{256} << 20;
  const auto bytes_beside = [](std::size_t storage) {
    const Cache cache({.mode = Mode::always_cache, .ceiling_bytes = most, .storage_bytes = storage});
    return cache.bytes() - cache.storage_bytes();
  };
  CHECK(bytes_beside(std::size_t{128} << 20) - bytes_beside(std::size_t{1} << 20) == std::size_t{4} << 20);
  Cache cache({.mode = Mode::always_cache, .ceiling_bytes = most, .storage_bytes = std::size_t{120} << 20});
  const std::size_t before = cache.bytes() - cache.storage_bytes();
  simulate(cache, loop("large", 9000, 20000, 1u << 15), 100);
  CHECK(cache.storage_bytes() >= std::size_t{128} << 20);
  CHECK(cache.bytes() - cache.storage_bytes() >= before + (std::size_t{4} << 20));
  CHECK(cache.bytes() <= most);
}

TEST_CASE("adaptation: what is due depends on references, not on epochs") {
  Adaptation adaptation;
  CHECK_FALSE(adaptation.due(10));
  CHECK(adaptation.due(256));
  // A hundred misses of 1000 references for lack of memory.
  CHECK(adaptation.storage_bytes(
            {.references = 1000, .capacity_misses = 100, .storage_bytes = 4096, .live_bytes = 4096}) == 8192);
  CHECK_FALSE(adaptation.due(1200));
  // None since, and all in use.
  CHECK(adaptation.storage_bytes(
            {.references = 2000, .capacity_misses = 100, .storage_bytes = 8192, .live_bytes = 4096}) == 8192);
  std::size_t bytes = 8192;
  int decisions = 0;
  while (bytes == 8192)
    bytes = adaptation.storage_bytes({.references = 3000u + 1000u * static_cast<unsigned>(++decisions),
                                      .capacity_misses = 100,
                                      .storage_bytes = bytes,
                                      .live_bytes = 100});
  CHECK(decisions == 8);
  CHECK(bytes == 4096);
}
