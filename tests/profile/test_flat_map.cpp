#include "profile/flat_map.hpp"

#include <doctest/doctest.h>

#include <random>
#include <unordered_map>

using wherry::profile::FlatMap;

TEST_CASE("a flat map does what std::unordered_map does") {
  constexpr unsigned seed = 20260;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  FlatMap<std::uint64_t, int> map;
  std::unordered_map<std::uint64_t, int> oracle;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t key = random() % 300 * 16;  // few, and aligned like pointers
    switch (random() % 3) {
      case 0: CHECK(map.insert(key, i) == oracle.emplace(key, i).first->second); break;
      case 1: map.erase(key), oracle.erase(key); break;
      default: {
        const int* found = map.find(key);
        const auto expected = oracle.find(key);
        REQUIRE((found != nullptr) == (expected != oracle.end()));
        if (found != nullptr) CHECK(*found == expected->second);
      }
    }
    REQUIRE(map.size() == oracle.size());
  }
}
