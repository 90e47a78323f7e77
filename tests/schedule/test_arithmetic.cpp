#include <doctest/doctest.h>

#include "schedule/arithmetic.hpp"

using namespace wherry::schedule;

TEST_CASE("wrap is the remainder, never negative") {
  for (int x = -5; x < 10; ++x) CHECK(wrap(x, 5) == (x + 10) % 5);
}

TEST_CASE("ceil_div rounds up") {
  CHECK(ceil_div(0, 3) == 0);
  CHECK(ceil_div(6, 3) == 2);
  CHECK(ceil_div(7, 3) == 3);
}

TEST_CASE("ceil_root is the smallest whole number whose power reaches n") {
  for (int degree = 1; degree <= 4; ++degree) {
    for (int n = 1; n <= 1000; ++n) {
      const auto power = [&](int r) {
        long long p = 1;
        for (int i = 0; i < degree; ++i) p *= r;
        return p;
      };
      const int root = ceil_root(n, degree);
      CHECK(power(root) >= n);
      CHECK((root == 1 || power(root - 1) < n));
    }
  }
  CHECK(ceil_root(2147483647, 2) == 46341);
  CHECK(ceil_root(2147483647, 1) == 2147483647);
}
