#include "nbody/conserved.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace nbody {
namespace {

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double length(const Vector& a) { return std::hypot(a[0], a[1], a[2]); }

void add_scaled(Vector& to, const Vector& value, double factor) {
  for (std::size_t axis = 0; axis < to.size(); ++axis) to[axis] += factor * value[axis];
}

double distance(const Vector& a, const Vector& b) {
  Vector difference = a;
  add_scaled(difference, b, -1);
  return length(difference);
}

double relative(double change, double scale) { return scale > 0 ? change / scale : change; }

}  // namespace

Conserved conserved(const Bodies& bodies, std::span<const double> potentials) {
  Conserved all;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const double m = bodies.m[i];
    const Vector r = bodies.place.at(i), v = bodies.velocity.at(i);
    const double speed = length(v);
    all.kinetic += m * speed * speed / 2;
    all.potential += m * potentials[i] / 2;
    add_scaled(all.momentum, v, m);
    add_scaled(all.angular_momentum, cross(r, v), m);
    all.momentum_scale += m * speed;
    all.angular_momentum_scale += m * length(r) * speed;
  }
  return all;
}

bool is_finite(const Conserved& all) {
  return std::isfinite(all.energy()) && std::isfinite(all.momentum_scale) &&
         std::isfinite(all.angular_momentum_scale);
}

Drift drift_between(const Conserved& before, const Conserved& after) {
  // Energies of both kinds may be large where their sum is nothing.
  const double energy = before.kinetic + std::abs(before.potential);
  return {
      .energy = relative(std::abs(after.energy() - before.energy()), energy),
      .momentum = relative(distance(after.momentum, before.momentum),
                           std::max(before.momentum_scale, after.momentum_scale)),
      .angular_momentum = relative(distance(after.angular_momentum, before.angular_momentum),
                                   std::max(before.angular_momentum_scale, after.angular_momentum_scale))};
}

std::string energy_warning(const Drift& drift) {
  constexpr double too_much = 1e-2;
  if (drift.energy < too_much) return "";
  char text[200];
  std::snprintf(text, sizeof text,
                "the energy has changed by %.2g of itself, so the motion means little; write a smaller --dt "
                "or a larger "
                "--eps",
                drift.energy);
  return text;
}

}  // namespace nbody
