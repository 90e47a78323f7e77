// Random numbers by identity and step: the same for any number of ranks, and after a restart.
#pragma once

#include <cstdint>

#include "lj_fluid/particle.hpp"
#include "support/mix.hpp"

namespace lj_fluid {

/// What the random numbers of a step have in common.
inline std::uint64_t step_key(std::uint64_t seed, std::uint64_t step) {
  return apps::mix(apps::mix(seed) ^ step);
}

/// Three independent numbers of mean 0 and variance 1 for a particle, uniformly distributed: as good for Langevin's
/// equation as normal ones, whose first moments are the same (Duenweg and Paul, Int. J. Mod. Phys. C 2 (1991) 817).
inline Vector noise(std::uint64_t key, std::uint64_t identity) {
  constexpr int bits = 21;
  constexpr double width = 3.4641016151377545870548926830117;  // sqrt(12)
  constexpr std::uint64_t mask = (1U << bits) - 1;
  std::uint64_t drawn = apps::mix(key ^ identity);
  Vector values;
  for (double& value : values) {
    value = ((static_cast<double>(drawn & mask) + 0.5) / (mask + 1) - 0.5) * width;
    drawn >>= bits;
  }
  return values;
}

}  // namespace lj_fluid
