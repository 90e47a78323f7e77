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

TEST_CASE("nothing has no statistic") {
  CHECK(std::isnan(median({})));
  CHECK(std::isnan(lower_quartile({})));
}

TEST_CASE("the lower quartile is a sample: the least of 4, the second of 5") {
  CHECK(lower_quartile(std::vector<double>{4, 3, 2, 9}) == 2);
  CHECK(lower_quartile(std::vector<double>{4, 3, 2, 9, 8}) == 3);
  CHECK(lower_quartile(std::vector<double>{1}) == 1);
}

TEST_CASE("one infinite sample does not reach the others") {
  const double never = std::numeric_limits<double>::infinity();
  CHECK(median(std::vector<double>{1, 2, never}) == 2);
  CHECK(lower_quartile(std::vector<double>{never, 1}) == 1);
}
