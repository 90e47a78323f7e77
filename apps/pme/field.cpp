#include "pme/field.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

#include "support/mix.hpp"

namespace pme {
namespace {

/// The frequency at a place of a transform, in waves per point: its second half holds the negative ones.
double frequency(int place, int extent) {
  return static_cast<double>(place <= extent / 2 ? place : place - extent) / extent;
}

double square(double v) { return v * v; }

}  // namespace

double charge(const Grid& grid, int x, int y, int z) {
  const std::uint64_t place = whole(grid).index(x, y, z);
  return std::ldexp(static_cast<double>(apps::mix(place) >> 11), -53) - 0.5;
}

double influence(const Grid& grid, int x, int y, int z) {
  constexpr double pi = std::numbers::pi;
  const double m2 =
      square(frequency(x, grid[0])) + square(frequency(y, grid[1])) + square(frequency(z, grid[2]));
  if (m2 == 0) return 0;  // a uniform background makes the charges neutral
  return std::exp(-pi * pi * m2) / (pi * m2 * static_cast<double>(whole(grid).points()));
}

}  // namespace pme
