#include <doctest/doctest.h>

#include "support/options.hpp"

using namespace apps;

namespace {

/// The message of the error that a call throws, or "no error".
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const usage_error& error) {
    return error.what();
  }
  return "no error";
}

Common parsed(const std::vector<std::string>& words) {
  Common common;
  parse(words, common_options(common));
  return common;
}

std::string refusal(const std::vector<std::string>& words) {
  return error_of([&] { parsed(words); });
}

}  // namespace

TEST_CASE("options set what they name, in both forms, and the last one wins") {
  const Common common =
      parsed({"--turns", "3", "--train=0", "--json", "a=b.json", "--no-progress", "--turns=7"});
  CHECK(common.turns == 7);
  CHECK(common.train == 0);
  CHECK(common.json == "a=b.json");
  CHECK(common.progress == ShowProgress::nowhere);
  CHECK_FALSE(common.help);
  CHECK(parsed({}).turns == 20);
  CHECK(parsed({"--help"}).help);
}

TEST_CASE("what cannot be is refused with the reason") {
  CHECK(refusal({"--turn", "3"}).starts_with("unknown option '--turn' (have: --turns, --train,"));
  CHECK(refusal({"--turn", "3"}).ends_with("--help); did you mean '--turns'?"));
  CHECK(refusal({"--Json=x"}).ends_with("did you mean '--json'?"));
  CHECK(refusal({"--frobnicate"}).ends_with("--help); see --help"));
  CHECK(refusal({"3"}).starts_with("unknown option '3'"));
  CHECK(refusal({"--turns"}) == "--turns stands without its argument; write --turns N");
  for (const char* wrong : {"0", "-1", "1x", "", " 1", "99999999999999999999", "1e3"}) {
    CAPTURE(wrong);
    CHECK(refusal({"--turns", wrong}) ==
          "--turns: '" + std::string(wrong) + "' is not a whole number from 1 to 1000000");
  }
  CHECK(refusal({"--json", ""}).starts_with("--json: the name of the file is empty"));
}

TEST_CASE("lists and names") {
  CHECK(whole_numbers("8,2048", 8, 4096) == std::vector{8, 2048});
  for (const char* wrong : {"", "8,", ",8", "8,,8", "8;9", "7"}) {
    CAPTURE(wrong);
    CHECK(error_of([&] { whole_numbers(wrong, 8, 4096); }).ends_with("is not a whole number from 8 to 4096"));
  }
  const std::vector<std::string> names = {"slab", "pencil"};
  CHECK(one_of("pencil", names) == 1);
  CHECK(error_of([&] { one_of("slabs", names); }) == "'slabs' is none of slab, pencil");
  CHECK(listed({}) == "");
}

TEST_CASE("help names every option and shows the examples") {
  Common common;
  const std::vector<Option> options = common_options(common);
  const std::string text = help({"app", "Does it.", {"mpiexec -n 8 app"}}, options);
  CHECK(text.starts_with("Usage: app [OPTION]...\n\nDoes it.\n"));
  for (const Option& option : options) CHECK(text.find("\n  " + option.name + " ") != text.npos);
  CHECK(text.ends_with("Examples:\n  mpiexec -n 8 app\n"));
}
