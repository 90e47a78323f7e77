#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "nbody/work.hpp"

using namespace nbody;

namespace {

constexpr unsigned seed = 20261122;

/// How often each pair is in some work; a pair whose row is not before its column is a mistake.
class Tally {
 public:
  explicit Tally(std::size_t bodies) : bodies_(bodies), times_(bodies * bodies) {}

  void add(const Work& work) {
    for (const Piece& piece : work)
      for (std::size_t i = piece.rows.begin; i < piece.rows.end; ++i)
        for (std::size_t j = piece.is_triangle() ? i + 1 : piece.columns.begin; j < piece.columns.end; ++j) {
          REQUIRE(i < j);
          REQUIRE(j < bodies_);
          ++times_[i * bodies_ + j];
        }
  }
  bool each_once() const {
    for (std::size_t i = 0; i < bodies_; ++i)
      for (std::size_t j = i + 1; j < bodies_; ++j)
        if (times_[i * bodies_ + j] != 1) return false;
    return true;
  }

 private:
  std::size_t bodies_;
  std::vector<int> times_;
};

Piece whole(std::size_t bodies) { return {{0, bodies}, {0, bodies}}; }

}  // namespace

TEST_CASE("shares of the triangle cover every pair once, and differ by one pair at most") {
  for (std::size_t bodies = 0; bodies <= 24; ++bodies)
    for (std::size_t parts = 1; parts <= 30; ++parts) {
      CAPTURE(bodies);
      CAPTURE(parts);
      Tally balanced(bodies), equal(bodies);
      std::uint64_t least = UINT64_MAX, most = 0;
      for (std::size_t part = 0; part < parts; ++part) {
        const Work mine = share(whole(bodies), part, parts);
        balanced.add(mine);
        least = std::min(least, pairs(mine));
        most = std::max(most, pairs(mine));
        equal.add(equal_rows(bodies, part, parts));
      }
      CHECK(balanced.each_once());
      CHECK(equal.each_once());
      CHECK(most - least <= 1);
    }
}

TEST_CASE("shares of shares of column blocks cover every pair once") {
  std::mt19937 random(seed);
  CAPTURE(seed);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t bodies = 2 + random() % 60, blocks = 1 + random() % 9, parts = 1 + random() % 7,
                      pieces = 1 + random() % 4;
    CAPTURE(bodies);
    CAPTURE(parts);
    Tally tally(bodies);
    for (std::size_t block = 0; block < blocks; ++block)
      for (std::size_t part = 0; part < parts; ++part)
        for (std::size_t piece = 0; piece < pieces; ++piece)
          tally.add(
              share(share(column_block(part_of({0, bodies}, block, blocks)), part, parts), piece, pieces));
    CHECK(tally.each_once());
  }
}

TEST_CASE("steps of shares cover every pair once, are small, and are cut where kernels begin anew") {
  constexpr std::uint64_t least = 4 * 512;
  std::mt19937 random(seed);
  CAPTURE(seed);
  for (int trial = 0; trial < 30; ++trial) {
    const std::size_t bodies = 2 + random() % (trial % 2 == 0 ? 60 : 1500), parts = 1 + random() % 5;
    const std::uint64_t most = 1 + random() % (whole(bodies).pairs() + 1);
    CAPTURE(bodies);
    CAPTURE(most);
    Tally tally(bodies);
    for (std::size_t part = 0; part < parts; ++part)
      for (const Piece& piece : share(whole(bodies), part, parts))
        for (const Work& step : steps({piece}, most)) {
          tally.add(step);
          CHECK(pairs(step) <= std::max(most, least));
          for (const Piece& each : step) {
            CHECK((each.rows.begin - piece.rows.begin) % 4 == 0);
            CHECK((each.columns.begin - piece.columns.begin) % (piece.is_triangle() ? 4 : 512) == 0);
          }
        }
    CHECK(tally.each_once());
  }
}

TEST_CASE("a column block has no pair with a column after it") {
  for (const Piece& piece : column_block({10, 20})) {
    CHECK(piece.columns == Range{10, 20});
    CHECK(piece.rows.end <= 20);
  }
  CHECK(pairs(column_block({10, 20})) == 10 * 10 + 45);
}

TEST_CASE("random numbers of bodies and parts: fair to one pair in a piece, also where squares are large") {
  std::mt19937_64 random(seed);
  CAPTURE(seed);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t bodies = 2 + random() % (std::size_t{1} << (1 + random() % 31)),
                      parts = 1 + random() % 5000;
    const std::uint64_t all = whole(bodies).pairs();
    CAPTURE(bodies);
    CAPTURE(parts);
    for (const std::size_t part : {std::size_t{0}, parts / 2, parts - 1}) {
      const Work mine = share(whole(bodies), part, parts);
      CHECK(mine.size() <= 4);
      CHECK(pairs(mine) >= all / parts);
      CHECK(pairs(mine) <= all / parts + 1);
    }
  }
}

TEST_CASE(
    "equal rows are not equal work: the first of sixteen has almost twice its share, the last almost "
    "nothing") {
  const double fair = static_cast<double>(whole(16000).pairs()) / 16;
  CHECK(static_cast<double>(pairs(equal_rows(16000, 0, 16))) / fair ==
        doctest::Approx(1.9375).epsilon(0.001));
  CHECK(static_cast<double>(pairs(equal_rows(16000, 15, 16))) / fair ==
        doctest::Approx(0.0625).epsilon(0.002));
}
