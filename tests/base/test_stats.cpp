#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/stats.hpp"

using namespace wherry;

TEST_CASE("order statistics of known samples") {
  const std::vector<double> samples = {5, 1, 4, 2, 3};
  CHECK(median(samples) == 3);
  CHECK(minimum(samples) == 1);
  CHECK(quantile(samples, 1) == 5);
  CHECK(quantile(samples, 0.25) == 2);
  CHECK(quantile(samples, 0.125) == 1.5);
  CHECK(median(std::vector<double>{1, 2}) == 1.5);
  CHECK(median(std::vector<double>{7}) == 7);
}

TEST_CASE("quantiles outside 0 to 1 are the extremes") {
  const std::vector<double> samples = {1, 2, 3};
  CHECK(quantile(samples, -1) == 1);
  CHECK(quantile(samples, 2) == 3);
}

TEST_CASE("nothing has no statistic") { CHECK(std::isnan(median({}))); }

TEST_CASE("no time counts as more than the factor times the least") {
  const std::vector<double> times = {2, 3, 100};
  CHECK(mean(times) == 35);
  CHECK(limited_mean(times, 10) == 25.0 / 3);
  CHECK(limited_mean(times, 100) == 35);
  CHECK(limited_mean(times, 1) == 2);
}

TEST_CASE("what all lists have once counts as a tenth, or as much as the second") {
  const std::vector<double> calm = {1, 1.5}, once = {2, 2, 10}, twice = {2, 20, 200}, far = {1, 1, 1000},
                            one = {7};
  const auto factor = [](std::vector<std::span<const double>> lists) { return tail_limit(lists); };
  CHECK(factor({}) == 1);
  CHECK(factor({one}) == 1);
  CHECK(factor({calm}) == 1);
  CHECK(factor({calm, once, one}) == 1.5);
  CHECK(factor({once, calm, one}) == 1.5);
  CHECK(factor({calm, twice}) == 10);
  CHECK(factor({once, once}) == 5);
  CHECK(factor({calm, far}) == 100);
  CHECK(factor({far, far}) == 1000);
}

TEST_CASE("one infinite sample does not reach the others") {
  const double never = std::numeric_limits<double>::infinity();
  CHECK(median(std::vector<double>{1, 2, never}) == 2);
}
