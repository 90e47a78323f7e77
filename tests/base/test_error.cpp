#include <doctest/doctest.h>

#include "base/error.hpp"

using namespace wherry;

TEST_CASE("require throws what it was told, and only if need be") {
  CHECK_NOTHROW(require(true, "never"));
  CHECK_THROWS_WITH_AS(require(false, "recv holds too little; enlarge recv"),
                       "recv holds too little; enlarge recv", usage_error);
}

TEST_CASE("ensure names the law that broke") {
  CHECK_NOTHROW(ensure(true, "never"));
  CHECK_THROWS_AS(ensure(false, "a round has trials"), contract_error);
}
