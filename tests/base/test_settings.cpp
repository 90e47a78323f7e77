#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "base/settings.hpp"

using namespace wherry;

namespace {

using Variables = std::map<std::string, std::string>;

Settings read(const Variables& variables, bool secure = false) {
  return read_settings(
      [&](const char* name) -> const char* {
        const auto at = variables.find(name);
        return at == variables.end() ? nullptr : at->second.c_str();
      },
      secure);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an empty environment gives the defaults") {
  const Settings s = read({});
  CHECK(s.enabled);
  CHECK((s.features.profile && s.features.collectives && s.features.learning && s.features.tuning));
  CHECK(s.output.empty());
  CHECK(s.tuning_file.empty());
  CHECK(s.staging_max == std::size_t{256} << 20);
  CHECK(s.strategies == all_automatic());
  CHECK(s.sparse_exchange == "auto");
  CHECK_FALSE(s.reproducible);
  CHECK(s.progress == ProgressBy::calls);
  CHECK(s.ranks_per_node == 0);
  CHECK(s.verbose == 0);
  CHECK(s.problems.empty());
}

TEST_CASE("an environment that cannot be asked gives the defaults") {
  CHECK(read_settings(nullptr, false).enabled);
}

TEST_CASE("every setting is read") {
  const Settings s = read({{"WHERRY_OUTPUT", "out dir"},
                           {"WHERRY_TUNING_FILE", "t"},
                           {"WHERRY_STAGING_MAX", "64M"},
                           {"WHERRY_ALLTOALL", "mesh"},
                           {"WHERRY_ALLTOALLV", "native"},
                           {"WHERRY_REDUCE_SCATTER_BLOCK", "ring"},
                           {"WHERRY_SPARSE_EXCHANGE", "nbx"},
                           {"WHERRY_REPRODUCIBLE", "1"},
                           {"WHERRY_PROGRESS", "thread"},
                           {"WHERRY_CACHE_NODE", "1M"},
                           {"WHERRY_RANKS_PER_NODE", "4"},
                           {"WHERRY_VERBOSE", "2"}});
  CHECK(s.output == "out dir");
  CHECK(s.tuning_file == "t");
  CHECK(s.staging_max == std::size_t{64} << 20);
  CHECK(s.sparse_exchange == "nbx");
  CHECK(s.reproducible);
  CHECK(s.strategies[index_of(Collective::alltoall)] == "mesh");
  CHECK(s.strategies[index_of(Collective::alltoallv)] == "native");
  CHECK(s.strategies[index_of(Collective::reduce_scatter_block)] == "ring");
  CHECK(s.strategies[index_of(Collective::barrier)] == "auto");
  CHECK(s.progress == ProgressBy::thread);
  CHECK(s.cache_node == std::size_t{1} << 20);
  CHECK(s.ranks_per_node == 4);
  CHECK(s.verbose == 2);
  CHECK(s.problems.empty());
}

TEST_CASE("each feature has its switch") {
  CHECK_FALSE(read({{"WHERRY_NO_PROFILE", "1"}}).features.profile);
  CHECK_FALSE(read({{"WHERRY_NO_COLLECTIVES", "yes"}}).features.collectives);
  CHECK_FALSE(read({{"WHERRY_NO_LEARNING", "on"}}).features.learning);
  CHECK(read({}).features.trial);
  CHECK_FALSE(read({{"WHERRY_NO_TRIAL", "1"}}).features.trial);
  CHECK_FALSE(read({{"WHERRY_DISABLE", "1"}}).features.trial);
  CHECK_FALSE(read({}).features.nonblocking);
  CHECK(read({{"WHERRY_NONBLOCKING", "1"}}).features.nonblocking);
  CHECK_FALSE(read({{"WHERRY_NONBLOCKING", "1"}, {"WHERRY_DISABLE", "1"}}).features.nonblocking);
  CHECK_FALSE(read({{"WHERRY_NO_TUNING", "true"}}).features.tuning);
  CHECK(read({{"WHERRY_NO_TUNING", "0"}}).features.tuning);
  CHECK(read({{"WHERRY_NO_TUNING", ""}}).features.tuning);
}

TEST_CASE("progress is made by calls unless a thread is asked for") {
  CHECK(read({{"WHERRY_PROGRESS", ""}}).progress == ProgressBy::calls);
  CHECK(read({{"WHERRY_PROGRESS", "calls"}}).problems.empty());
  const Settings s = read({{"WHERRY_PROGRESS", "threads"}});
  CHECK(s.progress == ProgressBy::calls);
  REQUIRE(s.problems.size() == 1);
  CHECK(contains(s.problems[0], "WHERRY_PROGRESS='threads' is neither calls nor thread"));
}

TEST_CASE("WHERRY_DISABLE switches everything off") {
  const Settings s = read({{"WHERRY_DISABLE", "1"}});
  CHECK_FALSE(s.enabled);
  CHECK_FALSE((s.features.profile || s.features.collectives || s.features.learning || s.features.tuning));
}

TEST_CASE("a switch that is neither on nor off is reported and counts as off") {
  const Settings s = read({{"WHERRY_DISABLE", "banana"}});
  CHECK(s.enabled);
  REQUIRE(s.problems.size() == 1);
  CHECK(s.problems[0] ==
        "WHERRY_DISABLE='banana' is neither 1 nor 0; it counts as 0; set it to 1 or unset it");
}

TEST_CASE("sizes have suffixes") {
  CHECK(read({{"WHERRY_STAGING_MAX", "4096"}}).staging_max == 4096);
  CHECK(read({{"WHERRY_STAGING_MAX", "4k"}}).staging_max == 4096);
  CHECK(read({{"WHERRY_STAGING_MAX", "2G"}}).staging_max == std::size_t{2} << 30);
  CHECK(read({{"WHERRY_STAGING_MAX", "1024G"}}).staging_max == std::size_t{1} << 40);
}

TEST_CASE("absurd sizes keep the default and are reported") {
  for (const char* absurd :
       {"0", "-1", "4095", "abc", "1.5G", "12X", "K", "G", " 64M", "64M ", "64MB", "0x1000", "+64M",
        "99999999999999999999", "18446744073709551616", "17179869184G", "1025G", "1e9"}) {
    CAPTURE(absurd);
    const Settings s = read({{"WHERRY_STAGING_MAX", absurd}});
    CHECK(s.staging_max == std::size_t{256} << 20);
    REQUIRE(s.problems.size() == 1);
    CHECK(contains(s.problems[0], "WHERRY_STAGING_MAX='" + std::string(absurd) + "'"));
    CHECK(contains(s.problems[0], "the default of 268435456 bytes is used"));
  }
}

TEST_CASE("a size of none is a size where that is the default") {
  const Settings none = read({{"WHERRY_CACHE_NODE", "0"}});
  CHECK(none.cache_node == 0);
  CHECK(none.problems.empty());
  const Settings little = read({{"WHERRY_CACHE_NODE", "63K"}});
  CHECK(little.cache_node == 0);
  REQUIRE(little.problems.size() == 1);
  CHECK(contains(little.problems[0], "is not between 65536 and"));
}

TEST_CASE("a choice that does not exist is told those that do") {
  const Settings typo = read({{"WHERRY_CACHE", "allways"}});
  CHECK(typo.cache == "transparent");
  CHECK(typo.problems == std::vector<std::string>{
                             "WHERRY_CACHE='allways' is none of transparent, always, user, off; transparent "
                             "is used; did you mean 'always'?"});
  const Settings other = read({{"WHERRY_CACHE", "everything"}});
  REQUIRE(other.problems.size() == 1);
  CHECK(contains(other.problems[0], "transparent is used; write one of these or unset it"));
}

TEST_CASE("absurd numbers keep the default and are reported") {
  for (const char* absurd : {"3", "-1", "many", "1e1", "999999999999999999999"}) {
    CAPTURE(absurd);
    const Settings s = read({{"WHERRY_VERBOSE", absurd}});
    CHECK(s.verbose == 0);
    CHECK(s.problems.size() == 1);
  }
  CHECK(read({{"WHERRY_RANKS_PER_NODE", "-4"}}).problems.size() == 1);
  CHECK(read({{"WHERRY_RANKS_PER_NODE", "2000000000"}}).ranks_per_node == 0);
}

TEST_CASE("all problems are reported, cut to a readable length and without control characters") {
  const Settings s =
      read({{"WHERRY_VERBOSE", std::string(5000, 'x')}, {"WHERRY_STAGING_MAX", "1\n2\x1b[31m"}});
  REQUIRE(s.problems.size() == 2);
  for (const std::string& problem : s.problems) {
    CHECK(problem.size() < 300);
    CHECK_FALSE(contains(problem, "\n"));
    CHECK_FALSE(contains(problem, "\x1b"));
  }
}

TEST_CASE("the tuning file is in the user's cache directory unless named") {
  CHECK(read({{"HOME", "/home/u"}}).tuning_file == "/home/u/.cache/wherry/tuning");
  CHECK(read({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "/c"}}).tuning_file == "/c/wherry/tuning");
  CHECK(read({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "relative"}}).tuning_file ==
        "/home/u/.cache/wherry/tuning");
  CHECK(read({{"HOME", "/home/u"}, {"WHERRY_TUNING_FILE", ""}}).tuning_file ==
        "/home/u/.cache/wherry/tuning");
  CHECK(read({{"HOME", "nowhere"}}).tuning_file.empty());
}

TEST_CASE("a privileged process does not look at its environment") {
  const Settings s = read_settings(
      [](const char*) -> const char* {
        FAIL("the environment was read");
        return nullptr;
      },
      true);
  CHECK_FALSE(s.enabled);
  CHECK_FALSE((s.features.profile || s.features.collectives || s.features.learning || s.features.tuning));
  CHECK(s.output.empty());
  CHECK(s.tuning_file.empty());
}

TEST_CASE("unknown variables are named, with the nearest known one") {
  const char* const environment[] = {
      "PATH=/bin",      "WHERRY_VERBOSE=1", "WHERRY_TUNNING_FILE=x", "WHERRY_SOMETHING=1",
      "WHERRY_ALTOALL", "XWHERRY_FOO=1",    "WHERRY_CACHE_BLOCK=1K", nullptr};
  const std::vector<std::string> unknown = unknown_variables(environment);
  REQUIRE(unknown.size() == 4);
  CHECK(unknown[0] ==
        "unknown variable 'WHERRY_TUNNING_FILE' has no effect; did you mean 'WHERRY_TUNING_FILE'?");
  CHECK(contains(unknown[1], "'WHERRY_SOMETHING'"));
  CHECK(contains(unknown[2], "'WHERRY_ALLTOALL'"));
  CHECK(unknown[3] == "unknown variable 'WHERRY_CACHE_BLOCK' has no effect");
  CHECK(unknown_variables(nullptr).empty());
}

TEST_CASE("every variable has a name and a line of help") {
  for (const Variable& v : variables()) {
    CHECK(v.name.starts_with("WHERRY_"));
    CHECK_FALSE(v.help.empty());
    CHECK_FALSE(contains(std::string(v.help), "\n"));
  }
}

TEST_CASE("every variable in the table is read") {
  for (const Variable& v : variables()) {
    bool asked = false;
    read_settings(
        [&](const char* name) -> const char* {
          asked = asked || v.name == name;
          return nullptr;
        },
        false);
    CAPTURE(v.name);
    CHECK(asked);
  }
}

TEST_CASE("every variable is documented") {
  std::ifstream file(std::filesystem::path(WHERRY_SOURCES) / "docs/reference/settings.md");
  REQUIRE(file);
  std::ostringstream page;
  page << file.rdbuf();
  for (const Variable& v : variables()) CHECK(contains(page.str(), "| `" + std::string(v.name) + "` |"));
}
