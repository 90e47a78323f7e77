#include <doctest/doctest.h>

#include <cstdlib>

#include "window/schedule.hpp"

using namespace window_test;

namespace {

int number_from_environment(const char* name, int fallback) {
  const char* const text = std::getenv(name);
  return text == nullptr ? fallback : std::atoi(text);
}

window::Options options_of(unsigned seed) {
  constexpr cache::Mode modes[] = {cache::Mode::transparent, cache::Mode::always_cache,
                                   cache::Mode::user_defined};
  window::Options options;
  options.cache.mode = modes[seed % 3];
  options.cache.ceiling_bytes = 65536;
  options.cache.storage_bytes = seed % 5 == 0 ? 4096 : 16384;  // too little for what is read
  options.cache.index_entries = 64;
  options.bypass = seed % 7 == 0;
  // As if a get took 2 us, until its time is known: before some get of the schedule, or from the first on.
  options.without_cache_s = 2e-6 * (seed % 35);
  options.coalesces = seed % 4 == 0;
  options.block_bytes = seed % 13 < 6 ? std::size_t{64} << seed % 3 : 0;
  options.node_bytes = seed % 11 < 6 ? std::size_t{1} << 16 : 0;
  return options;
}

}  // namespace

// WHERRY_TEST_SCHEDULES: how many, of 60 calls each. WHERRY_TEST_SEED: from where on.
TEST_CASE("window: random schedules bring what a window without a cache would") {
  const int schedules = number_from_environment("WHERRY_TEST_SCHEDULES", 3000);
  const auto first = static_cast<unsigned>(number_from_environment("WHERRY_TEST_SEED", 1));
  window::WindowStatistics all;
  for (unsigned seed = first; seed < first + static_cast<unsigned>(schedules); ++seed) {
    CAPTURE(seed);
    Schedule schedule(options_of(seed), 1 << seed % 4, seed);
    schedule.run(60);
    REQUIRE(schedule.problem() == "");
    const window::WindowStatistics s = schedule.statistics();
    all.bypassed += s.bypassed;
    all.cache.full_hits += s.cache.full_hits;
    all.cache.pending_hits += s.cache.pending_hits;
    all.cache.partial_hits += s.cache.partial_hits;
    all.cache.evictions += s.cache.evictions;
    all.cache.updated += s.cache.updated;
    all.cache.dropped += s.cache.dropped;
    all.node.found += s.node.found;
    all.node.offered += s.node.offered;
  }
  // Everything that can happen did.
  for (const std::uint64_t count :
       {all.bypassed, all.cache.full_hits, all.cache.pending_hits, all.cache.partial_hits,
        all.cache.evictions, all.cache.updated, all.cache.dropped, all.node.found, all.node.offered})
    CHECK(count > 100);
}

/// Long enough for a cache that gains nothing to be passed by, asked again by another target, and passed by again.
TEST_CASE("window: long schedules whose gets pass by the cache bring what a window without one would") {
  std::uint64_t bypassed = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    window::Options options;
    options.without_cache_s = 2e-6;
    Schedule schedule(options, 1 << seed % 4, seed);
    schedule.run(6000);
    REQUIRE(schedule.problem() == "");
    bypassed += schedule.statistics().bypassed;
  }
  CHECK(bypassed > 0);
}
