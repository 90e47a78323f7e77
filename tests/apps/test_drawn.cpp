#include <doctest/doctest.h>

#include "support/drawn.hpp"

using namespace apps;

namespace {

/// What is refused of a command line whose --scale and --seed are for drawn input.
std::string refusal(const std::vector<std::string>& words, const std::string& file) {
  Drawn drawn;
  int scale = 0, turns = 0;
  const std::vector<Option> options = {
      drawn.option({"--scale", "N", "", [&](const std::string& text) { scale = whole_number(text, 0, 9); }}),
      drawn.option({"--seed", "N", "", [](const std::string&) {}}),
      {"--turns", "N", "", [&](const std::string& text) { turns = whole_number(text, 0, 9); }}};
  try {
    parse(words, options);
    drawn.check("--graph", file);
  } catch (const usage_error& error) {
    return error.what();
  }
  return scale == 0 || scale == 4 ? "" : "--scale was not set";
}

}  // namespace

TEST_CASE("options of drawn input do not go with a file, and the message names the last of them") {
  CHECK(refusal({"--scale", "4", "--seed", "2", "--turns", "3"}, "") == "");
  CHECK(refusal({"--turns", "3"}, "x") == "");
  CHECK(refusal({"--scale=4", "--turns=3"}, "x") ==
        "--scale is for input that is drawn, and --graph names a file instead; leave one out");
  CHECK(refusal({"--scale=4", "--seed=2"}, "x").starts_with("--seed is for input that is drawn"));
  CHECK(refusal({"--scale=x"}, "x").starts_with("--scale: 'x' is not a whole number"));
}
