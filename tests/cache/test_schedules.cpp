#include <doctest/doctest.h>

#include <random>

#include "cache/schedules.hpp"

using namespace wherry::cache;

TEST_CASE("cache: random schedules read what a window without a cache would give") {
  constexpr CacheOptions options[] = {
      {.mode = Mode::user_defined, .ceiling_bytes = 1 << 20, .storage_bytes = 1 << 14, .index_entries = 64},
      {.mode = Mode::user_defined,
       .ceiling_bytes = 1 << 17,
       .storage_bytes = 1 << 16,
       .index_entries = 16,
       .adaptive = false},
      {.mode = Mode::transparent, .ceiling_bytes = 1 << 20, .storage_bytes = 1 << 15, .index_entries = 512},
      {.mode = Mode::always_cache, .ceiling_bytes = 1 << 16, .storage_bytes = 1 << 15, .index_entries = 512},
  };
  Statistics all;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    cache_test::Schedule schedule(options[seed % std::size(options)], seed % 3 == 0 ? 2000 : 200000,
                                  [&](std::uint64_t below) { return random() % below; });
    const int steps = seed <= 4 ? 5000 : 800;  // sizes change only after a while
    for (int step = 0; step < steps && schedule.problem().empty(); ++step) schedule.step();
    schedule.flush();
    REQUIRE(schedule.problem() == "");
    const Statistics& seen = schedule.cache().statistics();
    all.full_hits += seen.full_hits;
    all.pending_hits += seen.pending_hits;
    all.partial_hits += seen.partial_hits;
    all.evictions += seen.evictions;
    all.conflicts += seen.conflicts;
    all.refused += seen.refused;
    all.updated += seen.updated;
    all.dropped += seen.dropped;
    all.adjustments += seen.adjustments;
    for (std::size_t cause = 0; cause < all.misses.size(); ++cause) all.misses[cause] += seen.misses[cause];
  }
  // Everything that can happen did.
  CHECK(all.full_hits > 500);
  CHECK(all.pending_hits > 100);
  CHECK(all.partial_hits > 1000);
  for (const std::uint64_t misses : all.misses) CHECK(misses > 0);
  CHECK(all.evictions > 100);
  CHECK(all.conflicts > 0);
  CHECK(all.refused > 100);
  CHECK(all.updated > 100);
  CHECK(all.dropped > 100);
  CHECK(all.adjustments > 0);
}
