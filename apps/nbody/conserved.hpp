// What gravity leaves as it is: energy, momentum and angular momentum, and how far a computation is from that.
#pragma once

#include <array>
#include <span>
#include <string>

#include "nbody/bodies.hpp"

namespace nbody {

using Vector = std::array<double, 3>;

struct Conserved {
  double kinetic = 0, potential = 0;
  Vector momentum{}, angular_momentum{};
  double momentum_scale = 0;          // sum of m |v|
  double angular_momentum_scale = 0;  // sum of m |r| |v|
  double energy() const { return kinetic + potential; }
  bool operator==(const Conserved&) const = default;
};

/// potentials: at each body. Sums in the order of the bodies, so the bits do not depend on who computed what.
Conserved conserved(const Bodies& bodies, std::span<const double> potentials);

bool is_finite(const Conserved& all);

/// Changes between two times, each relative to what could change.
struct Drift {
  double energy, momentum, angular_momentum;
};
Drift drift_between(const Conserved& before, const Conserved& after);

/// What to say of a change in energy that is too large for the result to mean much; empty if it is not.
std::string energy_warning(const Drift& drift);

}  // namespace nbody
