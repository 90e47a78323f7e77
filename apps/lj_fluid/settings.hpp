// What the command line asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lj_fluid/configuration.hpp"
#include "support/drawn.hpp"
#include "support/options.hpp"

namespace lj_fluid {

/// A fluid to begin with.
struct Fluid {
  std::string name, meaning;
  double density;
  bool lattice;   // else at random places
  int particles;  // 0: a thousand for each rank
  Physics physics;
};
const std::vector<Fluid>& fluids();

/// How ghosts of diagonal neighbors travel, in the order of wherry::Route.
inline const std::vector<std::string> routes = {"direct", "staged", "measured"};

struct Settings {
  apps::Common common;
  std::size_t fluid = 0;
  std::optional<int> particles, particles_per_rank;
  std::optional<double> density, cutoff, skin, dt, temperature, gamma;
  std::optional<bool> shifted, langevin;
  std::optional<int> seed;
  std::string input, restart;  // files that are read
  int steps = 1000, equilibrate = 0, every = 100, dimensions = 3;
  bool relax = true, bonds = false, exclusions = false;
  std::size_t route = 0;                              // of routes
  std::string output, trajectory, energies, picture;  // files that are written
  apps::Drawn drawn;                                  // of the particles
  std::string physics_option;  // one of those that were given, which a restart file says instead
};

std::vector<apps::Option> options_of(Settings& settings);

/// What the options say of how particles move, for this fluid.
Physics physics_of(const Settings& settings);

/// Particles that are drawn, and their box. Throws usage_error if there are none such.
Configuration drawn_configuration(const Settings& settings, int ranks);

/// Whether the settings agree with each other. Throws usage_error.
void check(const Settings& settings);

/// Domains for this box. Throws usage_error if they would be too narrow.
std::array<int, 3> grid_for(const Settings& settings, const Physics& physics, const Vector& lengths,
                            int ranks);

}  // namespace lj_fluid
