#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "radix_sort/digits.hpp"

using namespace radix_sort;

namespace {

using Blocks = std::vector<std::vector<Key>>;  // of each rank

/// One pass, with all ranks in this process: what Sorter does by messages.
Blocks passed(const Blocks& blocks, Digit digit) {
  const std::size_t ranks = blocks.size(), keys = blocks.front().size();
  Counts all(digit.values()), lower(digit.values());
  for (const auto& block : blocks)
    std::ranges::transform(all, histogram(block, digit), all.begin(), std::plus());
  Blocks arrived(ranks);
  for (const auto& block : blocks) {
    const Counts mine = histogram(block, digit);
    const std::vector<int> counts =
        leaving(mine, lower, all, static_cast<std::int64_t>(keys), static_cast<int>(ranks));
    REQUIRE(std::accumulate(counts.begin(), counts.end(), 0) == static_cast<int>(keys));
    std::vector<Key> sorted(keys);
    sort_by(digit, block, sorted);
    auto next = sorted.begin();
    for (std::size_t d = 0; d < ranks; next += counts[d++])
      arrived[d].insert(arrived[d].end(), next, next + counts[d]);
    std::ranges::transform(lower, mine, lower.begin(), std::plus());
  }
  for (auto& block : arrived) {
    REQUIRE(block.size() == keys);
    sort_by(digit, std::vector(block), block);
  }
  return arrived;
}

std::vector<Key> joined(const Blocks& blocks) {
  std::vector<Key> all;
  for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

}  // namespace

TEST_CASE("the digits cover a key once, lowest first, with no fewer bits than asked for") {
  for (int least = 1; least <= most_digit_bits; ++least) {
    CAPTURE(least);
    int next = 0;
    for (const Digit digit : digits(least)) {
      CHECK(digit.shift == next);
      CHECK(digit.bits >= least);
      CHECK(digit.bits < 2 * least);
      next += digit.bits;
    }
    CHECK(next == key_bits);
  }
  CHECK(digits(8).size() == 8);
  CHECK(digits(10).size() == 6);
}

TEST_CASE("a digit has a value for every rank") {
  CHECK(default_digit_bits(1) == 8);
  CHECK(default_digit_bits(256) == 8);
  CHECK(default_digit_bits(257) == 9);
  CHECK(default_digit_bits(1024) == 10);
  CHECK(default_digit_bits(1 << 14) == 14);
}

TEST_CASE("a pass is a stable sort by its digit over all ranks") {
  for (const Keys kind : {Keys::uniform, Keys::few, Keys::ordered})
    for (const int ranks : {1, 2, 3, 5, 8, 13, 32})
      for (const std::size_t keys : {1U, 2U, 7U, 64U}) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(ranks);
        CAPTURE(keys);
        Blocks blocks;
        for (int rank = 0; rank < ranks; ++rank)
          blocks.push_back(draw(kind, static_cast<std::uint64_t>(rank) * keys, keys));
        const std::vector<Key> before = joined(blocks);
        for (const Digit digit : digits(8)) {
          std::vector<Key> expected = joined(blocks);
          std::ranges::stable_sort(expected, {}, [&](Key key) { return digit.of(key); });
          blocks = passed(blocks, digit);
          REQUIRE(joined(blocks) == expected);
        }
        std::vector<Key> sorted = before;
        std::ranges::sort(sorted);
        CHECK(joined(blocks) == sorted);
      }
}

TEST_CASE("uniform keys make an all-to-all of messages of about one size") {
  constexpr int ranks = 8, keys = 8 * 256;
  const Digit digit = digits(8).front();
  Counts all(digit.values()), lower(digit.values());
  for (int rank = 0; rank < ranks; ++rank)
    std::ranges::transform(
        all, histogram(draw(Keys::uniform, static_cast<std::uint64_t>(rank) * keys, keys), digit),
        all.begin(), std::plus());
  const Counts mine = histogram(draw(Keys::uniform, 0, keys), digit);
  for (const int count : leaving(mine, lower, all, keys, ranks)) {
    CHECK(count > 256 - 80);  // five standard deviations
    CHECK(count < 256 + 80);
  }
}

TEST_CASE("contents do not depend on order or division, and tell keys apart") {
  const std::vector<Key> keys = draw(Keys::uniform, 5, 100);
  std::vector<Key> turned(keys.rbegin(), keys.rend());
  CHECK(contents(keys) == contents(turned));
  const Contents a = contents(std::span(keys).first(30)), b = contents(std::span(keys).subspan(30));
  CHECK(Contents{a.count + b.count, a.checksum + b.checksum} == contents(keys));
  // Two changes that a sum of plain keys would not see.
  ++turned[3];
  --turned[4];
  CHECK_FALSE(contents(turned) == contents(keys));
  turned[3] = turned[4];
  CHECK_FALSE(contents(turned) == contents(keys));
}

TEST_CASE("keys are the same however they are divided") {
  const std::vector<Key> all = draw(Keys::uniform, 0, 20), part = draw(Keys::uniform, 7, 5);
  CHECK(std::ranges::equal(part, std::span(all).subspan(7, 5)));
  std::vector<Key> few = draw(Keys::few, 0, 1000);
  std::ranges::sort(few);
  CHECK(std::ranges::unique(few).begin() - few.begin() == 16);
}

TEST_CASE("blocks begin one after the other") { CHECK(begins(std::vector{3, 0, 2}) == std::vector{0, 3, 3}); }
