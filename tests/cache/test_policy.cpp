#include <doctest/doctest.h>

#include "replay/offline.hpp"
#include "replay/simulation.hpp"

using namespace replay;

namespace {

struct Case {
  Trace trace;
  double points;        // hits of 100 references that it may stay behind the best constant contents
  std::size_t hits[3];  // at 5, 10 and 25% of the working set: the simulation is deterministic
};

}  // namespace

TEST_CASE("policy: at least LRU, and within 5 points of the best constant contents") {
  const Case cases[] = {
      {zipf("zipf 0.8", 5000, 0.8, 60000, 0, 1), 5, {40804, 44937, 49585}},
      {zipf("zipf 1.0", 5000, 1.0, 60000, 0, 2), 5, {46927, 49704, 52600}},
      {zipf("zipf 0.9, changing", 5000, 0.9, 60000, 10000, 3), 5, {42635, 46053, 50398}},
      {clustering("clustering, scale 12, scored", 12, 16, 4, Scores::length), 5, {1369, 3137, 7653}},
      {clustering("clustering, scale 13, scored", 13, 16, 5, Scores::length), 5, {3021, 6390, 15935}},
      // Popular lists are as much longer as they are more popular: nothing is to be learned from one use or two.
      {clustering("clustering, scale 12", 12, 16, 4), 8, {1060, 2337, 6507}},
      {clustering("clustering, scale 13", 13, 16, 5), 8, {2091, 4741, 13477}},
  };
  constexpr double shares[] = {0.05, 0.1, 0.25};
  for (const Case& each : cases)
    for (std::size_t i = 0; i < std::size(shares); ++i) {
      CAPTURE(each.trace.name);
      CAPTURE(shares[i]);
      const auto length = static_cast<double>(each.trace.references.size());
      const auto capacity =
          static_cast<std::size_t>(shares[i] * static_cast<double>(working_set(each.trace)));
      const std::size_t hit = hits(each.trace, capacity);
      const auto found = static_cast<double>(hit),
                 lru = static_cast<double>(least_recently_used(each.trace, capacity));
      const double constant = best_constant_contents(each.trace, capacity);
      const double foresight = best_with_foresight(each.trace, capacity);
      INFO("hits of all references: " << found / length << ", LRU " << lru / length
                                      << ", best constant contents " << constant / length
                                      << ", with foresight " << foresight / length);
      CHECK(hit == each.hits[i]);
      CHECK(found >= lru);
      CHECK(found >= constant - each.points / 100 * length);
      CHECK(found <= foresight);
    }
}
