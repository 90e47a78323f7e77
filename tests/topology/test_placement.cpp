#include <doctest/doctest.h>

#include <vector>

#include "base/error.hpp"
#include "topology/placement.hpp"

using wherry::topology::Placement;

namespace {

std::vector<int> sizes(const Placement& placement) {
  std::vector<int> all;
  for (int node = 0; node < placement.nodes(); ++node)
    all.push_back(static_cast<int>(placement.members(node).size()));
  return all;
}

}  // namespace

TEST_CASE("Placement: flat is one rank per node") {
  const Placement placement = Placement::flat(3);
  CHECK(placement.size() == 3);
  CHECK(sizes(placement) == std::vector{1, 1, 1});
  CHECK_FALSE(placement.same_node(0, 1));
}

TEST_CASE("Placement: the last node of blocked may be short") {
  const Placement placement = Placement::blocked(7, 3);
  CHECK(sizes(placement) == std::vector{3, 3, 1});
  CHECK(placement.largest_node() == 3);
  CHECK(placement.node_of(6) == 2);
  CHECK(placement.local_rank(5) == 2);
}

TEST_CASE("Placement: spread is as even as possible, larger nodes first") {
  CHECK(sizes(Placement::spread(24, 5)) == std::vector{5, 5, 5, 5, 4});
  CHECK(Placement::spread(4, 4) == Placement::flat(4));
}

TEST_CASE("Placement: labels do not matter, only who is with whom") {
  const Placement a = Placement::placed(std::vector{7, 7, -2, 7, -2});
  const Placement b = Placement::placed(std::vector{0, 0, 1, 0, 1});
  CHECK(a == b);
  CHECK(a.signature() == b.signature());
  CHECK(std::vector(a.members(0).begin(), a.members(0).end()) == std::vector{0, 1, 3});
  CHECK(a.signature() != Placement::placed(std::vector{0, 1, 1, 0, 1}).signature());
}

TEST_CASE("Placement: signatures are the same on every machine and in every build, as tuning files need") {
  CHECK(Placement::blocked(4, 2).signature() == 657530736806844117ULL);
}

TEST_CASE("Placement: what cannot be is refused") {
  CHECK_THROWS_AS(Placement::flat(0), wherry::usage_error);
  CHECK_THROWS_AS(Placement::blocked(4, 0), wherry::usage_error);
  CHECK_THROWS_AS(Placement::spread(4, 5), wherry::usage_error);
  CHECK_THROWS_AS(Placement::spread(4, 0), wherry::usage_error);
  CHECK_THROWS_AS(Placement::placed({}), wherry::usage_error);
}
