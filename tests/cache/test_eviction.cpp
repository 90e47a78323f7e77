#include <doctest/doctest.h>

#include "replay/simulation.hpp"

using namespace wherry::cache;

TEST_CASE("eviction: looking for a victim takes no longer in an index that is nearly empty") {
  const auto examined = [](std::size_t index_entries) {
    Cache cache({.mode = Mode::always_cache,
                 .storage_bytes = 4096,
                 .index_entries = index_entries,
                 .adaptive = false});
    // Room for ten, and nothing comes twice.
    replay::simulate(cache, replay::loop("loop", 2000, 2000));
    CHECK(cache.index_slots() >= index_entries);
    CHECK(cache.entries() >= 10);
    CHECK(cache.entries() <= 20);
    const Statistics& seen = cache.statistics();
    CHECK(seen.missed() == 2000);
    CHECK(seen.evictions + seen.refused >= 1980);
    return seen.examined;
  };
  CHECK(examined(64) > 2000);
  CHECK(examined(std::size_t{1} << 20) < 2000 * 150);
}
