#include <doctest/doctest.h>

#include <array>

#include "base/nearest.hpp"

using namespace wherry;

TEST_CASE("edit distance counts inserted, deleted, replaced and swapped letters") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "mesh") == 4);
  CHECK(edit_distance("mesh", "mesh") == 0);
  CHECK(edit_distance("brucks", "bruck") == 1);
  CHECK(edit_distance("brck", "bruck") == 1);
  CHECK(edit_distance("brack", "bruck") == 1);
  CHECK(edit_distance("burck", "bruck") == 1);
  CHECK(edit_distance("emhs", "mesh") == 2);
  CHECK(edit_distance("MESH", "mesh") == 0);
  CHECK(edit_distance("mesh", "grid3") == 5);
}

TEST_CASE("edit distance is symmetric") {
  constexpr std::array words = {"", "a", "ab", "ba", "bruck", "burkc", "WHERRY_OUTPUT", "mesh"};
  for (const char* a : words)
    for (const char* b : words) CHECK(edit_distance(a, b) == edit_distance(b, a));
}

TEST_CASE("the nearest word is found, a far one is not offered") {
  constexpr std::array<std::string_view, 3> known = {"bruck", "mesh", "grid3"};
  CHECK(nearest("brucks", known) == "bruck");
  CHECK(nearest("gird3", known) == "grid3");
  CHECK(nearest("hypercube", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest("mesh", {}).empty());
  // What all begin with says nothing.
  constexpr std::string_view alike[] = {"cache_node", "cache_ceiling"};
  CHECK(nearest("cache_block", alike).empty());
  CHECK(nearest("cache_nod", alike) == "cache_node");
  CHECK(nearest("cahce_node", alike) == "cache_node");
  constexpr std::string_view options[] = {"--theta", "--steps", "--seed", "--file"};
  CHECK(nearest("--thetas", options) == "--theta");
  CHECK(nearest("--step", options) == "--steps");
  CHECK(nearest("--seen", options) == "--seed");
  CHECK(nearest("--bodies", options).empty());
  CHECK(did_you_mean("mehs", known) == "; did you mean 'mesh'?");
  CHECK(did_you_mean("torus", known).empty());
}
