// What all files of particles have in common: each has an identity of its own and is in the box.
#pragma once

#include <unordered_map>

#include "lj_fluid/configuration.hpp"

namespace lj_fluid {

class AtomReader {
 public:
  static constexpr std::uint64_t most_atoms = 1'000'000'000;
  static constexpr double farthest = 1e300;

  AtomReader(apps::Lines& lines, Configuration& to) : lines_(lines), to_(to) {}

  std::uint64_t identity() {
    return lines_.number<std::uint64_t>("identity of the particle", 1, std::uint64_t{1} << 62);
  }
  double real(const std::string& what) { return lines_.number<double>(what, -farthest, farthest); }
  Vector vector(const std::string& what) {
    Vector v{};
    for (double& x : v) x = real(what);
    return v;
  }

  /// Of the line at hand.
  void add(const Atom& atom) {
    for (std::size_t i = 0; i < 3; ++i)
      if (!(atom.position[i] >= to_.lower[i] && atom.position[i] <= to_.upper[i]))
        lines_.fail("particle " + std::to_string(atom.identity) + " is at " +
                    std::to_string(atom.position[i]) + ", outside the box from " +
                    std::to_string(to_.lower[i]) + " to " + std::to_string(to_.upper[i]) +
                    "; wrap it into the box, or enlarge the box");
    const auto [place, added] = place_of_.try_emplace(atom.identity, to_.atoms.size());
    if (!added) lines_.fail("particle " + std::to_string(atom.identity) + " is in the file twice");
    to_.atoms.push_back(atom);
  }
  /// A particle that was added.
  Atom& at(std::uint64_t identity) {
    const auto place = place_of_.find(identity);
    if (place == place_of_.end())
      lines_.fail("there is no particle " + std::to_string(identity) + " among the atoms");
    return to_.atoms[place->second];
  }
  /// Of the box, whose bounds were just read.
  void check_box() const {
    for (std::size_t i = 0; i < 3; ++i)
      if (!(to_.lower[i] < to_.upper[i])) lines_.fail("the box is empty");
  }

 private:
  apps::Lines& lines_;
  Configuration& to_;
  std::unordered_map<std::uint64_t, std::size_t> place_of_;
};

}  // namespace lj_fluid
