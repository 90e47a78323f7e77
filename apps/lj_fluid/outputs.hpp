// The files that a run writes as it goes, on the first rank.
#pragma once

#include <fstream>
#include <optional>
#include <string>

#include "lj_fluid/configuration.hpp"

namespace lj_fluid {

/// A file that grows; none if the name is empty. Throws std::runtime_error if it cannot be written.
class GrowingFile {
 public:
  GrowingFile(const std::string& path, const std::string& head);
  void add(const std::string& text);

 private:
  std::string path_;
  std::optional<std::ofstream> file_;
};

inline constexpr const char* energies_head = "step,time,temperature,potential,kinetic,total,pressure\n";
std::string energies_line(const Thermodynamics& now, double dt);

/// Particles in the box as SVG, in six colours by their speeds; those that others hide are left out.
std::string picture_svg(const Configuration& configuration);

}  // namespace lj_fluid
