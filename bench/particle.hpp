// A particle of the kind that molecular dynamics codes communicate: nested parts, 568 bytes of which 25 are padding,
// two lists.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sample {

using Vector = std::array<double, 3>;
using Quaternion = std::array<double, 4>;

struct Properties {
  std::int32_t identity = -1, molecule = 0, type = 0;
  double mass = 1, charge = 0, dipole = 0;
  Vector inertia{1, 1, 1}, slip{}, friction{}, rotational_friction{}, external_force{}, external_torque{};
  std::uint8_t rotates = 0;
  bool operator==(const Properties&) const = default;
};
struct VirtualSite {
  Quaternion orientation{}, relative{};
  double distance = 0;
  bool is_virtual = false;
  bool operator==(const VirtualSite&) const = default;
};
struct Position {
  Vector position{};
  Quaternion orientation{1, 0, 0, 0};
  Vector director{};
  bool operator==(const Position&) const = default;
};
struct Momentum {
  Vector velocity{}, angular{};
  bool operator==(const Momentum&) const = default;
};
struct Force {
  Vector force{}, torque{};
  bool operator==(const Force&) const = default;
};
struct Local {
  bool is_ghost = false;
  double offset = 0;
  Vector old_position{}, correction{};
  std::array<double, 3> swimming{};
  std::array<double, 4> noise{};
  bool operator==(const Local&) const = default;
};

template <class List>
struct Particle {
  Properties properties;
  VirtualSite site;
  Position position;
  Momentum momentum;
  Force force;
  Local local;
  List bonds, exclusions;
  bool operator==(const Particle&) const = default;
};

inline constexpr std::size_t particle_fixed_bytes = 543, particle_padding = 25;

template <class Random>
Vector drawn_vector(Random& random) {
  return {double(random() % 1000), double(random() % 1000) / 7, -double(random() % 10)};
}

/// Every member has a value of its own.
template <class List, class Random>
Particle<List> drawn_particle(Random& random, std::size_t bonds, std::size_t exclusions) {
  Particle<List> p;
  p.properties = {
      std::int32_t(random()), std::int32_t(random() % 9), 3, 2.5, -1, 0.25, {}, {}, {}, {}, {}, {}, 7};
  for (Vector* v :
       {&p.properties.inertia, &p.properties.slip, &p.properties.friction, &p.properties.rotational_friction,
        &p.properties.external_force, &p.properties.external_torque, &p.position.position,
        &p.position.director, &p.momentum.velocity, &p.momentum.angular, &p.force.force, &p.force.torque,
        &p.local.old_position, &p.local.correction, &p.local.swimming})
    *v = drawn_vector(random);
  p.site = {{1, 2, 3, 4}, {5, 6, 7, 8}, 9, random() % 2 == 0};
  p.position.orientation = {0.5, 0.25, 0.125, double(random() % 100)};
  p.local.is_ghost = random() % 2 == 0;
  p.local.offset = double(random() % 100);
  p.local.noise = {double(random() % 5), 1, 2, 3};
  for (std::size_t i = 0; i < bonds; ++i) p.bonds.push_back(std::int32_t(random()));
  for (std::size_t i = 0; i < exclusions; ++i) p.exclusions.push_back(std::int32_t(random()));
  return p;
}

}  // namespace sample
