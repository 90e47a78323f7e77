#include "barnes_hut/motion.hpp"

#include <algorithm>
#include <cmath>

namespace barnes_hut {

void kick(std::span<Particle> particles, double time) {
  for (Particle& p : particles) {
    p.vx += p.ax * time;
    p.vy += p.ay * time;
    p.vz += p.az * time;
  }
}

void drift(std::span<Particle> particles, double time) {
  for (Particle& p : particles) {
    p.body.x += p.vx * time;
    p.body.y += p.vy * time;
    p.body.z += p.vz * time;
  }
}

bool is_finite(const Particle& particle) {
  const auto& [body, vx, vy, vz, ax, ay, az, potential, id] = particle;
  const double values[] = {body.x, body.y, body.z, vx, vy, vz, ax, ay, az, potential};
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

Conserved conserved(std::span<const Particle> particles) {
  Conserved all;
  for (const Particle& p : particles) {
    const double mass = p.body.mass;
    all.kinetic += mass * (p.vx * p.vx + p.vy * p.vy + p.vz * p.vz) / 2;
    all.potential += mass * p.potential / 2;  // a pair is seen from both
    all.px += mass * p.vx;
    all.py += mass * p.vy;
    all.pz += mass * p.vz;
  }
  return all;
}

Acceleration direct_sum(const Particle& particle, std::span<const Body> bodies, double softening) {
  Acceleration sum;
  for (const Body& body : bodies) {
    const double dx = body.x - particle.body.x, dy = body.y - particle.body.y, dz = body.z - particle.body.z;
    const double squared = dx * dx + dy * dy + dz * dz;
    if (squared == 0) continue;
    const double softened = squared + softening * softening;
    const double pull = body.mass / (softened * std::sqrt(softened));
    sum.x += pull * dx;
    sum.y += pull * dy;
    sum.z += pull * dz;
  }
  return sum;
}

double squared_error(const Particle& particle, const Acceleration& right) {
  const double dx = particle.ax - right.x, dy = particle.ay - right.y, dz = particle.az - right.z;
  const double size = right.x * right.x + right.y * right.y + right.z * right.z;
  const double off = dx * dx + dy * dy + dz * dz;
  return off == 0 ? 0 : off / size;
}

}  // namespace barnes_hut
