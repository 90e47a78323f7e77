// Bodies that attract each other; the constant of gravitation is 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace barnes_hut {

/// What others need to know of a body.
struct Body {
  double x = 0, y = 0, z = 0, mass = 0;
  bool operator==(const Body&) const = default;
};

struct Particle {
  Body body;
  double vx = 0, vy = 0, vz = 0;
  double ax = 0, ay = 0, az = 0, potential = 0;  // at the last computation of forces
  std::uint64_t id = 0;
  bool operator==(const Particle&) const = default;
};

constexpr int most_bodies = 1 << 30;

/// The bodies `first`, `first` + 1, ... of a Plummer sphere of `all` in equilibrium, with total mass 1 and energy -1/4
/// (Aarseth, Henon, Wielen: A comparison of numerical methods for the study of star cluster dynamics, A&A 37, 1974):
/// the same however many ranks draw them.
std::vector<Particle> plummer(std::uint64_t seed, std::uint64_t first, std::uint64_t count,
                              std::uint64_t all);

/// Lines of "mass x y z vx vy vz"; what begins with # is no body. Throws apps::input_error, which says line and reason.
std::vector<Particle> parse_bodies(const std::string& name, std::string_view text);

}  // namespace barnes_hut
