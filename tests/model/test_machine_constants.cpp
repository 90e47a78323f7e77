// Constants of the cost model as text.
#include <doctest/doctest.h>

#include <cfenv>
#include <string>

#include "base/error.hpp"
#include "model/machine_constants.hpp"

using namespace wherry;
using namespace wherry::schedule;
using namespace wherry::topology;
using namespace wherry::model;

TEST_CASE("constants are read by their names, and the others stay unknown") {
  const Constants known = constants_in("alpha_between=8e-6,congestion=0");
  for (std::size_t i = 0; i < constants.size(); ++i) {
    CAPTURE(constants[i].name);
    const bool is_given = constants[i].name == "alpha_between" || constants[i].name == "congestion";
    CHECK(is_known(known[i]) == is_given);
  }
  CHECK(known[index_of(&Machine::alpha_between_s)] == 8e-6);
  CHECK(known[index_of(&Machine::congestion)] == 0);
  CHECK(machine_with(constants_in("")).beta_within_s == Machine{}.beta_within_s);
}

TEST_CASE("constants that are not known are compared without a floating-point exception") {
  std::feclearexcept(FE_ALL_EXCEPT);
  Constants known = nothing_known;
  known[index_of(&Machine::gamma_s)] = 2e-10;
  for (std::size_t i = 0; i < constants.size(); ++i)
    CHECK(is_known(known[i]) == is_plausible(constants[i], known[i]));
  CHECK(machine_with(known).gamma_s == 2e-10);
  CHECK(machine_with(known).alpha_within_s == Machine{}.alpha_within_s);
  CHECK(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) == 0);
}

TEST_CASE("what is no list of constants is refused, with what is wrong") {
  struct Case {
    const char *text, *problem;
  };
  constexpr Case cases[] = {
      {"alpha=1", "the cost model has no constant 'alpha'"},
      {"gama=1e-9", "did you mean 'gamma'?"},
      {"gamma", "'gamma' gives no constant of the cost model a value"},
      {"gamma=", "'' is no gamma of any machine; write a number in s/B"},
      {"gamma=1e-9x", "'1e-9x' is no gamma of any machine"},
      {"gamma=-1", "'-1' is no gamma of any machine"},
      {"congestion=nan", "'nan' is no congestion of any machine"},
      {"gamma=1e-9,,", "'' gives no constant"},
  };
  for (const auto& [text, problem] : cases) {
    CAPTURE(text);
    std::string said;
    try {
      constants_in(text);
    } catch (const usage_error& error) {
      said = error.what();
    }
    CAPTURE(said);
    CHECK(said.find(problem) != std::string::npos);
  }
}
