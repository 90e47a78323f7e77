#include "cache/history.hpp"

#include <doctest/doctest.h>

#include "cache/entry.hpp"
#include "cache/policy.hpp"

using namespace wherry::cache;

TEST_CASE("history: tells why something is missing") {
  History history(4096, 4096);
  const std::uint64_t one = hash_of(1, 8), other = hash_of(1, 16);
  CHECK(History::cause_of(history.find(one), 1) == Cause::compulsory);
  history.note(one, 3, 7, 1, Cause::capacity);
  history.note(other, 1, 7, 1, Cause::conflict);
  REQUIRE(history.find(one) != nullptr);
  CHECK(history.find(one)->heat == 3);
  CHECK(History::cause_of(history.find(one), 1) == Cause::capacity);
  CHECK(History::cause_of(history.find(other), 1) == Cause::conflict);
  // In another generation it would be gone whatever had happened before.
  CHECK(History::cause_of(history.find(one), 2) == Cause::invalidated);
}

TEST_CASE("history: forgets what was wanted longest ago") {
  History history(64, 64);  // one set of four
  for (std::uint32_t i = 0; i < 5; ++i) history.note(hash_of(0, i), 1, 10 + i, 1, Cause::capacity);
  CHECK(history.find(hash_of(0, 0)) == nullptr);
  for (std::uint32_t i = 1; i < 5; ++i) CHECK(history.find(hash_of(0, i)) != nullptr);
}

TEST_CASE("history: knows all that it knew when it has grown, and has room for more") {
  constexpr std::uint32_t ranges = 2000;
  // Four times as many rows as ranges at first: hardly a set has more than its four.
  History history(std::size_t{1} << 17, std::size_t{1} << 20);
  const auto known = [&](std::uint32_t from, std::uint32_t to) {
    std::uint32_t found = 0;
    for (std::uint32_t i = from; i < to; ++i) {
      const History::Row* const row = history.find(hash_of(3, 8 * i));
      if (row == nullptr) continue;
      CHECK(row->heat == static_cast<float>(i));
      ++found;
    }
    return found;
  };
  for (std::uint32_t i = 0; i < ranges; ++i)
    history.note(hash_of(3, 8 * i), static_cast<float>(i), 7, 1, Cause::capacity);
  const std::uint32_t before = known(0, ranges);
  CHECK(before > ranges * 9 / 10);
  history.grow(std::size_t{1} << 19);
  CHECK(history.bytes() == std::size_t{1} << 19);
  CHECK(known(0, ranges) == before);
  CHECK(known(ranges, 100 * ranges) == 0);
  for (std::uint32_t i = ranges; i < 4 * ranges; ++i)
    history.note(hash_of(3, 8 * i), static_cast<float>(i), 8, 1, Cause::capacity);
  CHECK(known(ranges, 4 * ranges) > 3 * ranges * 9 / 10);
  history.grow(std::size_t{1} << 30);
  CHECK(history.bytes() == history.most_bytes());
  CHECK(history.bytes() == std::size_t{1} << 20);
}

TEST_CASE("policy: heat fades by half in a half-life of 16 references per entry") {
  constexpr std::size_t entries = 1000;
  Policy policy;
  while (!policy.reference()) continue;
  policy.next_tick(entries);
  Entry entry{};
  entry.tick = policy.tick();
  policy.touch(entry);
  policy.touch(entry);
  CHECK(entry.heat == 2);
  for (std::size_t i = 0; i < 16 * entries; ++i)
    if (policy.reference()) policy.next_tick(entries);
  CHECK(policy.cooled(entry.heat, entry.tick) == doctest::Approx(1));
  policy.touch(entry);
  CHECK(entry.heat == doctest::Approx(2));
  // Twice the heat, or the score, makes up for twice the size.
  CHECK(Policy::worth(4, 1, 128) == Policy::worth(2, 1, 64));
  CHECK(Policy::worth(1, 2, 128) == Policy::worth(1, 1, 64));
}
