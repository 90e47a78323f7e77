#include <doctest/doctest.h>

#include <vector>

#include "common/nearest.hpp"

using apps::nearest;

TEST_CASE("the nearest word: a letter more, less or another, the first of equals") {
  const std::vector<std::string> known = {"--theta", "--steps", "--seed", "--file"};
  CHECK(nearest("--theta", known) == "--theta");
  CHECK(nearest("--thetas", known) == "--theta");
  CHECK(nearest("--step", known) == "--steps");
  CHECK(nearest("--seen", known) == "--seed");
  CHECK(nearest("theta", known) == "");
  CHECK(nearest("--bodies", known) == "");
  CHECK(nearest("", known) == "");
  CHECK(nearest("--theta", {}) == "");
  CHECK(nearest("b", std::vector<std::string>{"a", "ab", "cb"}) == "");
  CHECK(nearest("abx", std::vector<std::string>{"aby", "abz"}) == "aby");
}
