// What must not change while a fluid moves, and what is measured of it.
#pragma once

#include <cstdint>

#include "lj_fluid/potential.hpp"

namespace lj_fluid {

struct Physics {
  double cutoff = wca_cutoff;
  bool shifted = true;  // energies, so that they are zero at the cutoff
  double dt = 0.01;
  bool langevin = true;     // else the energy is constant
  double temperature = 1;   // of the thermostat, and of drawn velocities
  double gamma = 1;         // friction
  double skin = 0.4;        // what lists reach beyond the cutoff
  std::uint64_t seed = 1;   // of all that is drawn
  bool bonds = false;       // between partners (bonds.hpp)
  bool exclusions = false;  // partners do not repel each other
  bool operator==(const Physics&) const = default;
};

/// Energies are of a particle, in the mean.
struct Thermodynamics {
  long step = 0;
  double temperature = 0, potential = 0, kinetic = 0, pressure = 0;
  double total() const { return potential + kinetic; }
};

}  // namespace lj_fluid
