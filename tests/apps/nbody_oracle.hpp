// What the tests of the application nbody compare with: pulls in long double, pair by pair.
#pragma once

#include <cmath>
#include <vector>

#include "nbody/bodies.hpp"

namespace nbody_oracle {

using Real = long double;

struct Pull {
  Real x = 0, y = 0, z = 0;
};

inline Real squared_length(Real x, Real y, Real z) { return x * x + y * y + z * z; }

/// What the columns do to one row.
inline Pull pull_on(const nbody::Bodies& bodies, std::size_t i, nbody::Range columns, Real eps2) {
  Pull sum;
  for (std::size_t j = columns.begin; j < columns.end; ++j) {
    const Real dx = Real(bodies.place[0][j]) - bodies.place[0][i],
               dy = Real(bodies.place[1][j]) - bodies.place[1][i],
               dz = Real(bodies.place[2][j]) - bodies.place[2][i];
    const Real r2 = squared_length(dx, dy, dz) + eps2;
    if (r2 <= Real(1e-200)) continue;
    const Real strength = bodies.m[j] / (r2 * std::sqrt(r2));
    sum.x += strength * dx;
    sum.y += strength * dy;
    sum.z += strength * dz;
  }
  return sum;
}

inline std::vector<Pull> pulls(const nbody::Bodies& bodies, nbody::Range rows, nbody::Range columns,
                               Real eps2) {
  std::vector<Pull> all(bodies.size());
  for (std::size_t i = rows.begin; i < rows.end; ++i) all[i] = pull_on(bodies, i, columns, eps2);
  return all;
}

inline Real potential_at(const nbody::Bodies& bodies, std::size_t i, Real eps2) {
  Real sum = 0;
  for (std::size_t j = 0; j < bodies.size(); ++j) {
    const Real r2 = squared_length(Real(bodies.place[0][j]) - bodies.place[0][i],
                                   Real(bodies.place[1][j]) - bodies.place[1][i],
                                   Real(bodies.place[2][j]) - bodies.place[2][i]) +
                    eps2;
    if (j != i && r2 > Real(1e-200)) sum -= bodies.m[j] / std::sqrt(r2);
  }
  return sum;
}

/// Root mean square over the bodies of a range of the error relative to each one's own.
inline double relative_error(const nbody::Vectors& values, const std::vector<Pull>& right,
                             nbody::Range range) {
  Real sum = 0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Pull& r = right[i];
    const Real apart = squared_length(values[0][i] - r.x, values[1][i] - r.y, values[2][i] - r.z);
    const Real scale = squared_length(r.x, r.y, r.z);
    sum += scale > 0 ? apart / scale : apart;
  }
  return static_cast<double>(std::sqrt(sum / static_cast<Real>(range.size())));
}

}  // namespace nbody_oracle
