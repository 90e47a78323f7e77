#include "cache/index.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/entry.hpp"

using wherry::cache::hash_of;
using wherry::cache::Index;
using wherry::cache::Ref;

namespace {

/// Keys by number, with the index under test: references are numbers of keys.
struct Keys {
  std::vector<std::uint64_t> numbers{0};  // 0 refers to none

  Ref add(std::uint64_t number) {
    numbers.push_back(number);
    return static_cast<Ref>(numbers.size() - 1);
  }
  auto hash() const {
    return [this](Ref ref) { return hash_of(3, numbers[ref]); };
  }
  Ref find(const Index& index, std::uint64_t number) const {
    return index.find(hash_of(3, number), [&](Ref ref) { return ref != 0 && numbers[ref] == number; });
  }
};

/// The first bucket from `from` on that holds anything, by looking at all.
std::size_t next_by_looking(const Index& index, std::size_t from) {
  const auto is_free = [](Ref ref) { return ref == 0; };
  while (from < index.buckets() && std::ranges::all_of(index.refs(from), is_free)) ++from;
  return from;
}

}  // namespace

TEST_CASE("index: arithmetic sequences of any stride fill tables of any size") {
  constexpr std::uint64_t strides[] = {1,    2,    3,     7,     8,       64,         100,       1000,
                                       4096, 4104, 65536, 99991, 1 << 20, 1ULL << 32, 1ULL << 40};
  constexpr std::size_t keys = 2000;
  for (const std::uint64_t stride : strides)
    for (const std::size_t buckets : {313, 320, 333, 400, 511, 512, 513, 777}) {
      CAPTURE(stride);
      CAPTURE(buckets);
      Index index(buckets, buckets);
      Keys known;
      std::size_t placed = 0;
      for (std::size_t i = 0; i < keys; ++i) {
        const Ref ref = known.add(i * stride);
        placed += index.insert(hash_of(3, i * stride), ref, known.hash());
      }
      // 313 buckets are as full as 80%.
      CHECK(placed == keys);
      std::size_t found = 0;
      for (std::size_t i = 0; i < keys; ++i) found += known.find(index, i * stride) == i + 1;
      CHECK(found == keys);
    }
}

TEST_CASE("index: a table is filled to 85% before something finds no room") {
  Index index(1000, 1000);
  Keys known;
  std::size_t placed = 0;
  for (;; ++placed) {
    const Ref ref = known.add(placed * 64);
    if (!index.insert(hash_of(3, placed * 64), ref, known.hash())) break;
  }
  CHECK(placed > index.slots() * 85 / 100);
}

TEST_CASE("index: does what a map does while it grows and shrinks") {
  constexpr unsigned seed = 43;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  Index index(2, 500);
  Keys known;
  std::unordered_map<std::uint64_t, Ref> oracle;
  std::size_t most = 0;
  for (int step = 0; step < 60000; ++step) {
    const std::uint64_t number = random() % 3000 * 8;
    const auto at = oracle.find(number);
    REQUIRE(known.find(index, number) == (at == oracle.end() ? 0 : at->second));
    if (at == oracle.end()) {
      const Ref ref = known.add(number);
      if (index.insert(hash_of(3, number), ref, known.hash())) oracle[number] = ref;
    } else if (random() % 2 == 0) {
      index.erase(hash_of(3, number), at->second);
      oracle.erase(at);
    } else {
      const Ref ref = known.add(number);
      index.replace(hash_of(3, number), at->second, ref);
      at->second = ref;
    }
    const bool growing = step / 10000 % 2 == 0;
    if (step % 16 == 0 && growing) index.grow(known.hash());
    if (step % 16 == 8 && !growing)
      index.shrink(known.hash(), [&](Ref ref) { oracle.erase(known.numbers[ref]); });
    if (step == 45000) index.clear(), oracle.clear();
    REQUIRE(index.size() == oracle.size());
    if (step % 64 == 0 || oracle.size() < 20) {
      const std::size_t from = random() % (index.buckets() + 1);
      REQUIRE(index.next_filled(from).bucket == next_by_looking(index, from));
    }
    most = std::max(most, index.buckets());
  }
  CHECK(most == 500);
  CHECK(index.buckets() < 500);
}

TEST_CASE("index: growing drops nothing") {
  Index index(2, 4096);
  Keys known;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    while (index.size() * 10 >= index.slots() * 7) index.grow(known.hash());
    const Ref ref = known.add(i * 4096);
    REQUIRE(index.insert(hash_of(3, i * 4096), ref, known.hash()));
  }
  for (std::uint64_t i = 0; i < 20000; ++i) REQUIRE(known.find(index, i * 4096) == i + 1);
}

TEST_CASE("index: what it holds is found among any number of empty buckets") {
  constexpr unsigned seed = 44;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  Index index(200000, 200000);
  Keys known;
  unsigned most_looked = 0;
  const auto count = [&] {
    std::size_t filled = 0;
    for (std::size_t at = 0;; ++at, ++filled) {
      const auto [next, looked] = index.next_filled(at);
      most_looked = std::max(most_looked, looked);
      if (next == index.buckets()) return filled;
      at = next;
    }
  };
  CHECK(count() == 0);
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t number = random();
    REQUIRE(index.insert(hash_of(3, number), known.add(number), known.hash()));
  }
  CHECK(count() == 10);
  for (Ref ref = 1; ref <= 5; ++ref) index.erase(known.hash()(ref), ref);
  CHECK(count() == 5);
  index.clear();
  CHECK(count() == 0);
  REQUIRE(index.insert(hash_of(3, 7), known.add(7), known.hash()));
  CHECK(count() == 1);
  // Buckets, groups on the way up and down, and the 7 of the highest level.
  CHECK(most_looked <= 12);
}

TEST_CASE("hash: targets and displacements beyond 32 bits are told apart") {
  std::set<std::uint64_t> seen;
  for (std::uint32_t target = 0; target < 64; ++target)
    for (std::uint64_t number = 0; number < 64; ++number) {
      seen.insert(hash_of(target, number));
      seen.insert(hash_of(target, (number + 1) << 32));
    }
  CHECK(seen.size() == 64 * 128);
}
