#include <doctest/doctest.h>

#include "cache/cache.hpp"
#include "cache/timeline.hpp"
#include "replay/simulation.hpp"

using wherry::cache::Timeline;

TEST_CASE("timeline: few points, about equally far apart, whatever the length") {
  for (const std::uint64_t length : {1U, 63U, 64U, 65U, 1000U, 1000000U}) {
    CAPTURE(length);
    Timeline timeline;
    for (std::uint64_t i = 1; i <= length; ++i)
      timeline.note({.lookups = i, .hits = i / 2, .storage_bytes = 7});
    const auto points = timeline.points();
    REQUIRE(!points.empty());
    CHECK(points.size() <= Timeline::most_points);
    CHECK(points.size() >= std::min<std::uint64_t>(length, Timeline::most_points / 2));
    const std::uint64_t widest = 3 * (length / points.size() + 1);
    std::uint64_t last = 0;
    for (const Timeline::Point& point : points) {
      CHECK(point.lookups > last);
      CHECK(point.lookups - last <= widest);
      CHECK(point.hits == point.lookups / 2);
      last = point.lookups;
    }
    CHECK(length - last <= widest);
  }
}

TEST_CASE("timeline: a cache notes its hits and its memory") {
  wherry::cache::Cache cache({.mode = wherry::cache::Mode::always_cache, .storage_bytes = 1 << 14});
  // 400 KiB over and over: all misses at first, and all hits in the end.
  replay::simulate(cache, replay::loop("loop", 2000, 100000), 100);
  const auto points = cache.timeline();
  REQUIRE(points.size() >= Timeline::most_points / 2);
  CHECK(points.front().hits == 0);
  CHECK(points.front().storage_bytes == 1 << 14);
  CHECK(points.back().storage_bytes > 400 << 10);
  const auto& before = points[points.size() - 2];
  CHECK(points.back().hits - before.hits == points.back().lookups - before.lookups);
  CHECK(points.back().lookups <= cache.statistics().lookups());
}
