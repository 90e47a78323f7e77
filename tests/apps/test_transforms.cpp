#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "pme/decomposition.hpp"
#include "pme/field.hpp"
#include "pme/transforms.hpp"

using namespace pme;

namespace {

/// The definition of the transform, point by point.
Complex by_definition(const Grid& grid, const std::vector<double>& real, int kx, int ky, int kz) {
  const Box all = whole(grid);
  Complex sum = 0;
  for_rows(all, [&](int x, int y) {
    for (int z = 0; z < grid[2]; ++z) {
      const double waves = static_cast<double>(kx) * x / grid[0] + static_cast<double>(ky) * y / grid[1] +
                           static_cast<double>(kz) * z / grid[2];
      sum += real[all.index(x, y, z)] * std::polar(1.0, -2 * std::numbers::pi * waves);
    }
  });
  return sum;
}

std::vector<double> charges(const Grid& grid) {
  std::vector<double> values;
  for_rows(whole(grid), [&](int x, int y) {
    for (int z = 0; z < grid[2]; ++z) values.push_back(charge(grid, x, y, z));
  });
  return values;
}

const Grid grids[] = {{1, 1, 1}, {1, 1, 2}, {4, 3, 6}, {3, 5, 7}, {2, 1, 5}};

}  // namespace

TEST_CASE(
    "one axis after the other, and all at once, are the transform by definition; back again is the "
    "identity") {
  for (const Grid& grid : grids) {
    CAPTURE(grid[0]);
    CAPTURE(grid[1]);
    CAPTURE(grid[2]);
    const Box real_box = whole(grid), box = whole({grid[0], grid[1], spectrum_length(grid[2])});
    const std::vector<double> field = charges(grid);
    std::vector<double> real = field;
    std::vector<Complex> values(box.points());
    Transform(real_box, Direction::forward, real.data(), values.data()).run();
    for (const int axis : {1, 0}) Transform(box, axis, Direction::forward, values.data()).run();
    const std::vector<Complex> serial = serial_forward(grid, field);
    for_rows(box, [&](int x, int y) {
      for (int z = 0; z < box.extent(2); ++z) {
        const Complex right = by_definition(grid, field, x, y, z);
        REQUIRE(std::abs(values[box.index(x, y, z)] - right) < 1e-12);
        REQUIRE(std::abs(serial[box.index(x, y, z)] - right) < 1e-12);
      }
    });
    for (const int axis : {0, 1}) Transform(box, axis, Direction::backward, values.data()).run();
    Transform(real_box, Direction::backward, real.data(), values.data()).run();
    const std::vector<double> round_trip = serial_backward(grid, serial);
    const auto points = static_cast<double>(field.size());
    for (std::size_t i = 0; i < field.size(); ++i) {
      REQUIRE(real[i] / points == doctest::Approx(field[i]).epsilon(1e-12));
      REQUIRE(round_trip[i] / points == doctest::Approx(field[i]).epsilon(1e-12));
    }
  }
}

TEST_CASE("a box without points is left alone") {
  Transform(Box{}, 0, Direction::forward, nullptr).run();
  Transform(Box{}, Direction::backward, nullptr, nullptr).run();
}

TEST_CASE("the influence is that of both signs of a frequency, falls, and leaves no mean") {
  const Grid grid{6, 5, 8};
  CHECK(influence(grid, 0, 0, 0) == 0);
  CHECK(influence(grid, 1, 2, 3) == influence(grid, 5, 3, 5));
  CHECK(influence(grid, 0, 0, 1) > influence(grid, 0, 0, 2));
  CHECK(influence(grid, 0, 0, 2) > influence(grid, 0, 0, 4));
}

TEST_CASE("charges have both signs and no pattern") {
  double sum = 0, squares = 0;
  const std::vector<double> values = charges({10, 10, 10});
  for (const double q : values) {
    REQUIRE(std::abs(q) <= 0.5);
    sum += q;
    squares += q * q;
  }
  CHECK(std::abs(sum) < 5 * std::sqrt(1000.0 / 12));
  CHECK(squares == doctest::Approx(1000.0 / 12).epsilon(0.1));
}
