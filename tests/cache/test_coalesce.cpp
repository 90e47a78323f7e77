#include "cache/coalesce.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <utility>

using namespace wherry::cache;

namespace {

/// Every byte of the ranges.
std::set<std::pair<std::uint32_t, std::uint64_t>> bytes_of(const TargetRange& range) {
  std::set<std::pair<std::uint32_t, std::uint64_t>> bytes;
  for (std::uint64_t at = range.displacement; at < range.end(); ++at) bytes.emplace(range.target, at);
  return bytes;
}

}  // namespace

TEST_CASE("coalesce: adjacent ranges become one, others stay") {
  std::vector<Wanted> wanted = {
      {{0, 64, 64}, 0}, {{0, 0, 64}, 1}, {{1, 128, 8}, 2}, {{0, 129, 7}, 3}, {{0, 100, 28}, 4}};
  const std::vector<CoalescedRange> joined = coalesce(wanted);
  REQUIRE(joined.size() == 3);
  CHECK(joined[0].range == TargetRange{0, 0, 128});
  CHECK(joined[0].count == 3);
  CHECK(wanted[joined[0].first].number == 1);
  CHECK(joined[1].range == TargetRange{0, 129, 7});
  CHECK(joined[2].range == TargetRange{1, 128, 8});
}

TEST_CASE("coalesce: fetches exactly the bytes that were wanted, in the fewest pieces") {
  constexpr unsigned seed = 44;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Wanted> wanted;
    std::set<std::pair<std::uint32_t, std::uint64_t>> expected, found;
    for (std::size_t i = 0; i < random() % 20; ++i) {
      const TargetRange range{static_cast<std::uint32_t>(random() % 2), random() % 200, 1 + random() % 20};
      wanted.push_back({range, i});
      expected.merge(bytes_of(range));
    }
    std::size_t begins = 0;
    for (const auto& [target, at] : expected) begins += at == 0 || !expected.contains({target, at - 1});
    const std::vector<CoalescedRange> joined = coalesce(wanted);
    CHECK(joined.size() == begins);
    std::size_t covered = 0;
    for (const CoalescedRange& each : joined) {
      CHECK(each.first == covered);
      covered += each.count;
      found.merge(bytes_of(each.range));
    }
    CHECK(covered == wanted.size());
    CHECK(found == expected);
  }
}
