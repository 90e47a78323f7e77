// The potential, what else must not change while a fluid moves, and what is measured of it. In units of the depth and
// diameter of the potential.
#pragma once

#include <cmath>
#include <cstdint>

namespace lj_fluid {

/// Of the Weeks-Chandler-Andersen potential, which is the repulsive part: its minimum, 2^(1/6).
inline const double wca_cutoff = std::pow(2.0, 1.0 / 6.0);

inline double lennard_jones(double r2) {
  const double s6 = 1 / (r2 * r2 * r2);
  return 4 * s6 * (s6 - 1);
}

struct Potential {
  double cutoff = wca_cutoff;
  double shift = 0;  // what energies are raised by
};

/// shifted: so that the energy is zero at the cutoff.
inline Potential cut_off(double cutoff, bool shifted) {
  return {cutoff, shifted ? -lennard_jones(cutoff * cutoff) : 0};
}

/// What one pair adds to all.
struct Totals {
  double energy = 0;
  double virial = 0;  // force times distance
};

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
