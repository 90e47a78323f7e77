#include "nbody/integrators.hpp"

#include <cmath>

namespace nbody {
namespace {

/// Three leapfrog steps of which the middle one goes back (Yoshida, Construction of higher order symplectic integrators,
/// Physics Letters A 150, 1990).
Integrator yoshida4() {
  const double root = std::cbrt(2.0);
  const double outer = 1 / (2 - root), middle = -root / (2 - root);
  return {.name = "yoshida4",
          .meaning = "three leapfrog steps, the middle one backwards; symplectic, reversible",
          .order = 4,
          .kicks = {outer / 2, (outer + middle) / 2, (middle + outer) / 2, outer / 2},
          .drifts = {outer, middle, outer}};
}

void add_scaled(Vectors& to, const Vectors& values, Range range, double factor) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::span<double> sums = to[axis];
    const std::span<const double> terms = values[axis];
    for (std::size_t i = range.begin; i < range.end; ++i) sums[i] += factor * terms[i];
  }
}

}  // namespace

const std::vector<Integrator>& integrators() {
  static const std::vector<Integrator> all = {
      {"euler", "velocities, then places by the new velocities", 1, {1, 0}, {1}},
      {"leapfrog", "half a kick, a drift, half a kick; symplectic, reversible", 2, {0.5, 0.5}, {1}},
      yoshida4(),
  };
  return all;
}

void kick(Vectors& velocity, const Vectors& acceleration, Range range, double dt) {
  add_scaled(velocity, acceleration, range, dt);
}

void drift(Vectors& place, const Vectors& velocity, Range range, double dt) {
  add_scaled(place, velocity, range, dt);
}

}  // namespace nbody
