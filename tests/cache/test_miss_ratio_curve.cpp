// The sampled curve against LRU itself.
#include <doctest/doctest.h>

#include <cmath>

#include "cache/entry.hpp"
#include "cache/miss_ratio_curve.hpp"
#include "replay/offline.hpp"
#include "replay/simulation.hpp"

using namespace replay;
using wherry::cache::MissRatioCurve;

namespace {

using Points = std::vector<MissRatioCurve::Point>;

/// What the cache does with a curve: it notes those that are followed.
Points curve_of(const Trace& trace, std::size_t samples) {
  MissRatioCurve curve(samples);
  for (const Reference& each : trace.references) {
    const std::uint64_t hash = wherry::cache::hash_of(0, each.key);
    if (curve.follows(hash)) curve.note(hash, footprint(each.bytes));
  }
  return curve.points(trace.references.size());
}

/// Of the greatest memory that is not more than this.
double at(const Points& points, std::uint64_t bytes) {
  double misses = 1;
  for (const auto& point : points)
    if (point.bytes <= bytes) misses = point.misses;
  return misses;
}

double missed_by_lru(const Trace& trace, std::size_t bytes) {
  const auto all = static_cast<double>(trace.references.size());
  return 1 - static_cast<double>(least_recently_used(trace, bytes)) / all;
}

/// Mean distance of the two curves, over memories between a hundredth of the working set and all of it.
double mean_error(const Trace& trace, const Points& points) {
  double sum = 0;
  int count = 0;
  const auto most = static_cast<double>(working_set(trace));
  for (double bytes = most / 100; bytes <= most; bytes *= 1.5, ++count) {
    const auto memory = static_cast<std::size_t>(bytes);
    sum += std::abs(at(points, memory) - missed_by_lru(trace, memory));
  }
  return sum / count;
}

}  // namespace

TEST_CASE("the miss-ratio curve is LRU's when all ranges are followed") {
  // What remains is the width of the steps, and LRU's hole where a large victim leaves.
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Trace trace = zipf("zipf", 3000, 0.9, 60000, 0, seed);
    INFO("seed ", seed);
    CHECK(mean_error(trace, curve_of(trace, 3000)) < 0.02);
  }
}

TEST_CASE("the miss-ratio curve of a sample is near LRU's") {
  const Trace traces[] = {
      zipf("zipf 0.8", 20000, 0.8, 200000, 0, 4),
      zipf("zipf 1.0, changing", 20000, 1.0, 200000, 5000, 5),
      clustering("clustering", 12, 16, 6),
  };
  for (const Trace& trace : traces)
    for (const std::size_t samples : {256u, 1024u}) {
      const double error = mean_error(trace, curve_of(trace, samples));
      INFO(trace.name, ", ", samples, " samples: error ", error);
      CHECK(error < (samples == 256 ? 0.08 : 0.04));
    }
}

TEST_CASE("the miss-ratio curve of a loop falls at once, where the loop fits") {
  const Trace trace = loop("loop", 1000, 50000);
  const Points points = curve_of(trace, 100);
  const std::size_t fits = working_set(trace);
  CHECK(at(points, fits / 2) == 1);
  CHECK(at(points, 2 * fits) == doctest::Approx(1000.0 / 50000).epsilon(0.2));
}

TEST_CASE("a cache has the miss-ratio curve of its lookups if asked") {
  const Trace trace = zipf("zipf", 3000, 0.9, 60000, 0, 7);
  for (const std::size_t samples : {0u, 512u}) {
    wherry::cache::Cache cache({.storage_bytes = 1 << 16, .curve_samples = samples});
    simulate(cache, trace);
    const Points points = cache.miss_ratio_curve();
    CHECK(points.empty() == (samples == 0));
    if (samples != 0) CHECK(mean_error(trace, points) < 0.05);
  }
}

TEST_CASE("the miss-ratio curve begins empty, and ends where references do") {
  CHECK_FALSE(MissRatioCurve(0).follows(0));
  MissRatioCurve curve(8);
  CHECK(curve.points(0).empty());
  curve.note(1, 100);
  CHECK(curve.points(1).empty());
  curve.note(1, 100);
  const Points points = curve.points(2);
  REQUIRE(points.size() == 1);
  CHECK(points[0].bytes >= 100);
  CHECK(points[0].bytes < 120);
  CHECK(points[0].misses == doctest::Approx(0.5));
}
