#include "nbody/simd/forces.hpp"

#include <algorithm>
#include <cmath>

namespace nbody {
namespace {

/// With these, forces are above 1e-60 * (1e60 sqrt(12))^-2.
constexpr double least_mass_ratio = 1e-30, farthest_for_forces = 1e60;

struct Extremes {
  double least_mass = HUGE_VAL, most_mass = 0, farthest = 0;

  void add(const Points& points, Range range) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      least_mass = std::min(least_mass, points.m[i]);
      most_mass = std::max(most_mass, points.m[i]);
      farthest = std::max({farthest, std::abs(points.x[i]), std::abs(points.y[i]), std::abs(points.z[i])});
    }
  }
};

}  // namespace

std::optional<double> unit_of_forces(const Points& rows, Range row_range, const Points& columns,
                                     Range column_range) {
  Extremes all;
  all.add(rows, row_range);
  all.add(columns, column_range);
  const bool fits = all.most_mass > 0 && all.least_mass >= least_mass_ratio * all.most_mass &&
                    all.farthest < farthest_for_forces && std::isnormal(all.least_mass);
  if (!fits) return std::nullopt;
  return std::ldexp(1.0, std::ilogb(all.most_mass));
}

}  // namespace nbody
