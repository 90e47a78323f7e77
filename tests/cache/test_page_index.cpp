#include "cache/page_index.hpp"

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

std::set<Ref> found_in(const PageIndex& index, const TargetRange& range) {
  std::set<Ref> found;
  index.visit(range, [&](Ref entry, std::uint64_t) { found.insert(entry); });
  return found;
}

}  // namespace

TEST_CASE("page index: finds what a look at every entry finds") {
  constexpr unsigned seed = 45;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  PageIndex index(9, std::size_t{1} << 20);
  std::map<Ref, TargetRange> entries;
  for (Ref next = 1; next < 4000; ++next) {
    const std::uint64_t high = random() % 2 * (std::uint64_t{5} << 40);
    const TargetRange range{static_cast<std::uint32_t>(random() % 3), high + random() % 20000,
                            1 + random() % (random() % 4 == 0 ? 3000 : 40)};
    std::set<Ref> expected;
    for (const auto& [entry, each] : entries)
      if (overlap(each, range)) expected.insert(entry);
    REQUIRE(found_in(index, range) == expected);
    const TargetRange all{range.target, 0, std::uint64_t{1} << 60};
    if (next % 16 == 0)
      REQUIRE(found_in(index, all).size() ==
              static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [&](const auto& each) {
                return each.second.target == range.target;
              })));
    // Entries do not overlap: what is in the way goes, now and then.
    if (!expected.empty() && random() % 2 == 0)
      for (const Ref entry : expected) {
        index.erase(entries.at(entry), entry);
        entries.erase(entry);
      }
    else if (expected.empty()) {
      while (!index.has_room_for(range)) REQUIRE(index.extend());
      index.insert(range, next);
      entries[next] = range;
    }
    REQUIRE(index.size() == entries.size());
  }
  CHECK(entries.size() > 100);
  index.clear();
  CHECK(found_in(index, {0, 0, 20000}).empty());
}

TEST_CASE("page index: takes no more memory than it may, and says so") {
  PageIndex index(16, std::size_t{64} << 10);
  std::uint64_t page = 0;
  for (bool room = true; room;) {
    const TargetRange range{0, page++ << 16, 100};
    room = index.has_room_for(range) || index.extend();
    if (room) index.insert(range, 1);
  }
  CHECK(page > 300);
  CHECK(index.bytes() <= (std::size_t{64} << 10) + 2 * PageIndex::step_bytes);
}
