#include "cache/grid.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace wherry::cache;

namespace {

bool overlap(const TargetRange& a, const TargetRange& b) {
  return a.target == b.target && a.displacement < b.end() && b.displacement < a.end();
}

std::set<Ref> found_in(const Grid& grid, const TargetRange& range) {
  std::set<Ref> found;
  grid.visit(range, [&](Ref entry, std::uint64_t) { found.insert(entry); });
  return found;
}

}  // namespace

TEST_CASE("grid: finds what a look at every entry finds") {
  constexpr unsigned seed = 45;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  Grid grid(9, std::size_t{1} << 20);
  std::map<Ref, TargetRange> entries;
  for (Ref next = 1; next < 4000; ++next) {
    const std::uint64_t high = random() % 2 * (std::uint64_t{5} << 40);
    const TargetRange range{static_cast<std::uint32_t>(random() % 3), high + random() % 20000,
                            1 + random() % (random() % 4 == 0 ? 3000 : 40)};
    std::set<Ref> expected;
    for (const auto& [entry, each] : entries)
      if (overlap(each, range)) expected.insert(entry);
    REQUIRE(found_in(grid, range) == expected);
    const TargetRange all{range.target, 0, std::uint64_t{1} << 60};
    if (next % 16 == 0)
      REQUIRE(found_in(grid, all).size() ==
              static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [&](const auto& each) {
                return each.second.target == range.target;
              })));
    // Entries do not overlap: what is in the way goes, now and then.
    if (!expected.empty() && random() % 2 == 0)
      for (const Ref entry : expected) {
        grid.erase(entries.at(entry), entry);
        entries.erase(entry);
      }
    else if (expected.empty()) {
      while (!grid.has_room_for(range)) REQUIRE(grid.extend());
      grid.insert(range, next);
      entries[next] = range;
    }
    REQUIRE(grid.size() == entries.size());
  }
  CHECK(entries.size() > 100);
  grid.clear();
  CHECK(found_in(grid, {0, 0, 20000}).empty());
}

TEST_CASE("grid: takes no more memory than it may, and says so") {
  Grid grid(16, std::size_t{64} << 10);
  std::uint64_t page = 0;
  for (bool room = true; room;) {
    const TargetRange range{0, page++ << 16, 100};
    room = grid.has_room_for(range) || grid.extend();
    if (room) grid.insert(range, 1);
  }
  CHECK(page > 300);
  CHECK(grid.bytes() <= (std::size_t{64} << 10) + 2 * Grid::step_bytes);
}
