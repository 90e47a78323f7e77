// Bodies in motion, and what must stay the same.
#pragma once

#include <span>

#include "barnes_hut/bodies.hpp"

namespace barnes_hut {

/// The two halves of a leapfrog: velocities by accelerations, places by velocities.
void kick(std::span<Particle> particles, double time);
void drift(std::span<Particle> particles, double time);

/// Whether no place, velocity, acceleration or potential overflowed.
bool is_finite(const Particle& particle);

/// Sums over particles, which add up over ranks.
struct Conserved {
  double kinetic = 0, potential = 0;
  double px = 0, py = 0, pz = 0;  // momentum
  double energy() const { return kinetic + potential; }
};
Conserved conserved(std::span<const Particle> particles);

/// The acceleration at a particle's place by all bodies, one after the other; those at no distance do nothing.
struct Acceleration {
  double x = 0, y = 0, z = 0;
};
Acceleration direct_sum(const Particle& particle, std::span<const Body> bodies, double softening);

/// The square of the relative error of the particle's acceleration, against the direct sum.
double squared_error(const Particle& particle, const Acceleration& right);

}  // namespace barnes_hut
