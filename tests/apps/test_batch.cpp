#include <doctest/doctest.h>

#include <numeric>

#include "remote/batch.hpp"
#include "remote_ranks.hpp"

using namespace remote;

TEST_CASE("batch: elements lie where ask() said, in the order in which they were asked for") {
  std::vector<std::vector<int>> ranks(3, std::vector<int>(100));
  for (int rank = 0; rank < 3; ++rank) std::iota(ranks[rank].begin(), ranks[rank].end(), 1000 * rank);
  const auto reader = remote_test::reader(remote_test::memories(ranks));
  Batch<int> batch;
  CHECK(batch.is_empty());
  CHECK(batch.ask({1, 10, 5}) == 0);
  CHECK(batch.ask({2, 0, 2}) == 5);
  // Again: it comes once.
  CHECK(batch.ask({2, 0, 2}) == 5);
  CHECK(batch.ask({2, 0, 3}) == 7);
  CHECK_FALSE(batch.is_empty());
  batch.start(*reader);
  CHECK(batch.is_empty());
  reader->flush();
  const std::vector<int> expected = {1010, 1011, 1012, 1013, 1014, 2000, 2001, 2000, 2001, 2002};
  CHECK(std::vector<int>(batch.elements().begin(), batch.elements().end()) == expected);
  CHECK(reader->statistics().gets == 3);
  // What is asked for next does not touch what was read.
  CHECK(batch.ask({0, 7, 1}) == 0);
  CHECK(batch.elements().front() == 1010);
  batch.start(*reader);
  reader->flush();
  CHECK(batch.elements().front() == 7);
  CHECK(batch.elements().size() == 1);
}

TEST_CASE("batch: what a stretch holds") {
  const Stretch stretch{0, 10, 5};
  CHECK(stretch.holds(10, 5));
  CHECK(stretch.holds(14, 1));
  CHECK_FALSE(stretch.holds(9, 2));
  CHECK_FALSE(stretch.holds(14, 2));
  CHECK_FALSE(Stretch{}.holds(0, 1));
}
