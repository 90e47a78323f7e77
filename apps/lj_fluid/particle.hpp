// A particle as molecular dynamics codes keep it: nested parts, lists of bonds and exclusions; 616 bytes with one of
// each. It is what migrates; forces are computed on sites (site.hpp).
#pragma once

#include <array>
#include <cstdint>

#include "wherry/compact_vector.hpp"

namespace lj_fluid {

using Vector = std::array<double, 3>;
using Quaternion = std::array<double, 4>;

struct Properties {
  std::int32_t molecule = 0, type = 0;
  std::uint64_t identity = 0;
  double mass = 1, charge = 0, dipole = 0;
  Vector inertia{1, 1, 1}, slip{}, friction{}, rotational_friction{}, external_force{}, external_torque{};
  std::uint8_t rotates = 0;
};
struct VirtualSite {
  Quaternion orientation{1, 0, 0, 0}, relative{1, 0, 0, 0};
  double distance = 0;
  bool is_virtual = false;
};
struct Position {
  Vector position{};
  Quaternion orientation{1, 0, 0, 0};
  Vector director{0, 0, 1};
};
struct Momentum {
  Vector velocity{}, angular{};
};
struct Force {
  Vector force{}, torque{};
};
struct Local {
  bool is_ghost = false;
  double offset = 0;
  Vector old_position{}, correction{}, swimming{};
  std::array<double, 4> noise{};
};

struct Particle {
  Properties properties;
  VirtualSite site;
  Position position;
  Momentum momentum;
  Force force;
  Local local;
  wherry::compact_vector<std::uint64_t> bonds, exclusions;  // identities of the partners
};
static_assert(sizeof(Particle) == 600);

/// What a step needs of a particle.
struct Atom {
  std::uint64_t identity = 0;
  Vector position{}, velocity{}, force{};
  bool operator==(const Atom&) const = default;
};

}  // namespace lj_fluid
