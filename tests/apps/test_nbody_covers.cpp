// Covers have all distances with few numbers, and on their hosts every two blocks of bodies meet once.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "nbody/covers.hpp"

using namespace nbody;

namespace {

std::set<int> distances(const std::vector<int>& cover, int ranks) {
  std::set<int> all;
  for (const int a : cover)
    for (const int b : cover) all.insert(std::min((a - b + ranks) % ranks, (b - a + ranks) % ranks));
  return all;
}

using MakeCover = std::vector<int> (*)(int ranks);
constexpr MakeCover covers[] = {half_ring_cover, difference_cover};

}  // namespace

TEST_CASE("the differences of a cover are all distances around the ring") {
  for (const MakeCover cover_of : covers)
    for (int ranks = 1; ranks <= 130; ++ranks) {
      CAPTURE(ranks);
      const std::vector<int> cover = cover_of(ranks);
      CHECK(cover.front() == 0);
      CHECK(std::set<int>(cover.begin(), cover.end()).size() == cover.size());
      CHECK(*std::ranges::max_element(cover) < ranks);
      CHECK(distances(cover, ranks).size() == static_cast<std::size_t>(ranks / 2 + 1));
    }
}

TEST_CASE("a cover of p ranks has about sqrt(p) numbers") {
  // k numbers have k (k - 1) / 2 differences.
  for (const auto& [ranks, size] :
       {std::pair{7, 3}, {13, 4}, {16, 5}, {31, 6}, {32, 7}, {64, 10}, {1024, 50}}) {
    CAPTURE(ranks);
    CHECK(difference_cover(ranks).size() <= static_cast<std::size_t>(size));
  }
  for (int ranks = 2; ranks <= 130; ++ranks) {
    CAPTURE(ranks);
    CHECK(static_cast<double>(difference_cover(ranks).size()) <= std::sqrt(1.5 * ranks) + 2);
  }
}

TEST_CASE("every two blocks meet once, and every host has as much to do") {
  for (const MakeCover cover_of : covers)
    for (int ranks = 1; ranks <= 40; ++ranks) {
      CAPTURE(ranks);
      const std::vector<int> cover = cover_of(ranks);
      const std::vector<Meeting> of_host = meetings(cover, ranks);
      CHECK(of_host.size() == static_cast<std::size_t>(ranks / 2));
      const auto n = static_cast<std::size_t>(ranks);
      std::vector<int> halves(n * n);
      for (int host = 0; host < ranks; ++host)
        for (const Meeting& m : of_host) {
          const int a = (host + cover[m.first]) % ranks, b = (host + cover[m.second]) % ranks;
          halves[static_cast<std::size_t>(std::min(a, b)) * n + static_cast<std::size_t>(std::max(a, b))] +=
              m.shared ? 1 : 2;
        }
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a; b < n; ++b) CHECK(halves[a * n + b] == (a == b ? 0 : 2));
    }
}

TEST_CASE("guests come in the order of the cover, and each has a meeting when it comes") {
  for (const MakeCover cover_of : covers)
    for (int ranks = 2; ranks <= 40; ++ranks) {
      CAPTURE(ranks);
      const std::vector<int> cover = cover_of(ranks);
      const std::vector<Meeting> of_host = meetings(cover, ranks);
      std::set<std::size_t> guests;
      for (const Meeting& m : of_host) {
        CHECK(m.first < m.second);
        guests.insert(m.second);
      }
      CHECK(guests.size() == cover.size() - 1);
      CHECK(std::ranges::is_sorted(of_host, {}, &Meeting::second));
    }
}

TEST_CASE("in a half ring the host meets everybody with its own block") {
  CHECK(meetings(half_ring_cover(6), 6) == std::vector<Meeting>{{0, 1, false}, {0, 2, false}, {0, 3, true}});
}
