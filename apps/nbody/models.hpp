// Bodies to begin with, drawn from a seed: the same on every machine up to the rounding of its mathematical functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nbody/bodies.hpp"

namespace nbody {

struct Model {
  std::string name;
  std::string meaning;
  std::size_t least, most;  // bodies
  Bodies (*make)(std::size_t bodies, std::uint64_t seed);
};
const std::vector<Model>& models();

/// Two bodies of masses 3/4 and 1/4 on an ellipse of semi-major axis 1 and eccentricity 1/2, farthest apart; at rest as
/// a whole.
Bodies kepler();
constexpr double kepler_period = 6.283185307179586;

/// In a cube, with masses between 1e-6 and 1 (their logarithms are uniform); for tests of forces.
Bodies scattered(std::size_t bodies, std::uint64_t seed);

}  // namespace nbody
