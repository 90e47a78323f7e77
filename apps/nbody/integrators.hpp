// Steps in time as tables: kicks change velocities by accelerations, drifts change places by velocities.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nbody/bodies.hpp"

namespace nbody {

/// One step: kick, then (drift, new accelerations, kick) for each drift. Coefficients in units of the time step.
struct Integrator {
  std::string name;
  std::string meaning;
  int order;                          // the error of a given time falls as dt^order
  std::vector<double> kicks, drifts;  // one kick more than drifts
};
const std::vector<Integrator>& integrators();

/// v += a dt for the bodies of a range.
void kick(Vectors& velocity, const Vectors& acceleration, Range range, double dt);
/// r += v dt.
void drift(Vectors& place, const Vectors& velocity, Range range, double dt);

/// A step of the bodies of a range. accelerations must be those of the places on entry, and are on return; accelerate()
/// makes them so.
template <class Accelerate>
void step(const Integrator& integrator, Bodies& bodies, Vectors& accelerations, Range range, double dt,
          Accelerate&& accelerate) {
  kick(bodies.velocity, accelerations, range, integrator.kicks[0] * dt);
  for (std::size_t i = 0; i < integrator.drifts.size(); ++i) {
    drift(bodies.place, bodies.velocity, range, integrator.drifts[i] * dt);
    accelerate();
    kick(bodies.velocity, accelerations, range, integrator.kicks[i + 1] * dt);
  }
}

}  // namespace nbody
