// Particles in files: what LAMMPS's read_data reads, and extended XYZ, which OVITO and VMD open. A run goes on from an
// extended XYZ file with forces and a few words more in its second line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lj_fluid/particle.hpp"
#include "lj_fluid/physics.hpp"
#include "support/lines.hpp"

namespace lj_fluid {

/// Where a run is.
struct RunState {
  std::int64_t step = 0;
  Physics physics;
  bool operator==(const RunState&) const = default;
};

struct Configuration {
  Vector lower{}, upper{};  // of a periodic box
  std::vector<Atom> atoms;
  bool has_velocities = false, has_forces = false;
  std::optional<RunState> state;
};

/// The parsers throw apps::input_error, with the line and the reason. name: of the file, for messages. Particles are in
/// the box and have different identities.
Configuration parse_lammps(const std::string& name, std::string_view text);
/// The last frame, if there are several.
Configuration parse_xyz(const std::string& name, std::string_view text);

/// Reads a file: extended XYZ if its name ends in .xyz or .extxyz, else LAMMPS's.
Configuration read_configuration(const std::string& path);

/// A frame of a trajectory: positions and velocities; with a state forces, too, so that a run can go on from it.
std::string xyz_text(const Configuration& configuration);

}  // namespace lj_fluid
