#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "schedule/blocks/slots.hpp"

using wherry::schedule::Slots;

TEST_CASE("Slots: the lowest run that fits; neighbors merge when they are given back") {
  Slots slots;
  CHECK(slots.take(4) == 0);
  CHECK(slots.take(2) == 4);
  std::vector<int> back = {3, 1};
  slots.give_back(back);
  CHECK(slots.take(2) == 6);
  back = {2};
  slots.give_back(back);
  CHECK(slots.take(3) == 1);
  CHECK(slots.high_water() == 8);
}

TEST_CASE("Slots: a free run at the end grows instead of being stepped over") {
  Slots slots;
  slots.take(3);
  std::vector<int> back = {1, 2};
  slots.give_back(back);
  CHECK(slots.take(5) == 1);
  CHECK(slots.high_water() == 6);
}

TEST_CASE("Slots: no slot has two owners, whatever is taken and given back") {
  constexpr unsigned seed = 20240611;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Slots slots;
  std::vector<int> taken;
  for (int step = 0; step < 500; ++step) {
    const int count = 1 + static_cast<int>(random() % 7);
    const int first = slots.take(count);
    for (int slot = first; slot < first + count; ++slot) {
      REQUIRE(slot < slots.high_water());
      REQUIRE(std::find(taken.begin(), taken.end(), slot) == taken.end());
      taken.push_back(slot);
    }
    std::shuffle(taken.begin(), taken.end(), random);
    const auto keep = static_cast<std::ptrdiff_t>(taken.size() / 2);
    std::vector<int> back(taken.begin() + keep, taken.end());
    taken.resize(static_cast<std::size_t>(keep));
    slots.give_back(back);
  }
}
