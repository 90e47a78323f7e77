// The Lennard-Jones potential, cut off, in units of its depth and diameter.
#pragma once

#include <cmath>

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

}  // namespace lj_fluid
