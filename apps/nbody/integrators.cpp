#include "nbody/integrators.hpp"

#include <cmath>
#include <utility>

namespace nbody {
namespace {

/// Leapfrog steps of these lengths, which read the same backwards: drifts in full, kicks of neighbors joined (Yoshida,
/// Construction of higher order symplectic integrators, Physics Letters A 150, 1990).
Integrator composed(std::string name, std::string meaning, int order, std::vector<double> lengths) {
  std::vector<double> kicks = {lengths.front() / 2};
  for (std::size_t i = 1; i < lengths.size(); ++i) kicks.push_back((lengths[i - 1] + lengths[i]) / 2);
  kicks.push_back(lengths.back() / 2);
  return {std::move(name), std::move(meaning), order, std::move(kicks), std::move(lengths)};
}

Integrator yoshida4() {
  const double root = std::cbrt(2.0);
  const double outer = 1 / (2 - root), middle = -root / (2 - root);
  return composed("yoshida4", "three leapfrog steps, the middle one backwards; symplectic, reversible", 4,
                  {outer, middle, outer});
}

/// Its solution A.
Integrator yoshida6() {
  constexpr double first = 0.784513610477560, second = 0.235573213359357, third = -1.17767998417887;
  constexpr double middle = 1 - 2 * (first + second + third);
  return composed("yoshida6", "seven leapfrog steps, two of them backwards; symplectic, reversible", 6,
                  {first, second, third, middle, third, second, first});
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
      yoshida6(),
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
