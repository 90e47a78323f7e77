// A particle as molecular dynamics codes keep it: nested parts, lists of bonds and exclusions; 616 bytes with one of
// each. It is what migrates; forces are computed on sites, a line of cache for each particle and ghost.
#pragma once

#include <array>
#include <cstddef>
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

/// Kernels load position and `key`, force and `zero` as vectors of four numbers.
struct alignas(64) Site {
  Vector position{};
  std::uint64_t key = 0;  // the identity while ghosts are chosen; else 0, which kernels read as 0.0
  Vector force{};
  double zero = 0;
};
static_assert(sizeof(Site) == 64 && offsetof(Site, force) == 32);

/// Of a site that stands in lists for nothing: no particle is near it.
inline constexpr Vector nowhere{1e30, 1e30, 1e30};

}  // namespace lj_fluid
