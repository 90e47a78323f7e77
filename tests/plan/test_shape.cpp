#include <doctest/doctest.h>

#include <vector>

#include "base/error.hpp"
#include "plan/shape.hpp"

using wherry::plan::Shape;

namespace {

std::vector<int> sizes(const Shape& shape) {
  std::vector<int> all;
  for (int node = 0; node < shape.nodes(); ++node)
    all.push_back(static_cast<int>(shape.members(node).size()));
  return all;
}

}  // namespace

TEST_CASE("Shape: flat is one rank per node") {
  const Shape shape = Shape::flat(3);
  CHECK(shape.size() == 3);
  CHECK(sizes(shape) == std::vector{1, 1, 1});
  CHECK_FALSE(shape.same_node(0, 1));
}

TEST_CASE("Shape: the last node of blocked may be short") {
  const Shape shape = Shape::blocked(7, 3);
  CHECK(sizes(shape) == std::vector{3, 3, 1});
  CHECK(shape.largest_node() == 3);
  CHECK(shape.node_of(6) == 2);
  CHECK(shape.local_rank(5) == 2);
}

TEST_CASE("Shape: spread is as even as possible, larger nodes first") {
  CHECK(sizes(Shape::spread(24, 5)) == std::vector{5, 5, 5, 5, 4});
  CHECK(Shape::spread(4, 4) == Shape::flat(4));
}

TEST_CASE("Shape: labels do not matter, only who is with whom") {
  const Shape a = Shape::placed(std::vector{7, 7, -2, 7, -2});
  const Shape b = Shape::placed(std::vector{0, 0, 1, 0, 1});
  CHECK(a == b);
  CHECK(a.signature() == b.signature());
  CHECK(std::vector(a.members(0).begin(), a.members(0).end()) == std::vector{0, 1, 3});
  CHECK(a.signature() != Shape::placed(std::vector{0, 1, 1, 0, 1}).signature());
}

TEST_CASE("Shape: signatures are the same on every machine and in every build, as tuning files need") {
  CHECK(Shape::blocked(4, 2).signature() == 657530736806844117ULL);
}

TEST_CASE("Shape: what cannot be is refused") {
  CHECK_THROWS_AS(Shape::flat(0), wherry::usage_error);
  CHECK_THROWS_AS(Shape::blocked(4, 0), wherry::usage_error);
  CHECK_THROWS_AS(Shape::spread(4, 5), wherry::usage_error);
  CHECK_THROWS_AS(Shape::spread(4, 0), wherry::usage_error);
  CHECK_THROWS_AS(Shape::placed({}), wherry::usage_error);
}
