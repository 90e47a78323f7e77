// Where a fluid begins: at random places, or on a lattice.
#pragma once

#include <cstdint>
#include <vector>

#include "lj_fluid/particle.hpp"

namespace lj_fluid {

/// Uniformly random places in a cube, which depend on the seed and the identity alone. Identities count from 1.
Vector random_place(std::uint64_t seed, std::uint64_t identity, double length);

/// Sites of a face-centered cubic lattice with `cells` cubes of four in each dimension.
struct Lattice {
  int cells;
  double length;  // of the whole cube
};
std::uint64_t places_of(const Lattice& lattice);
Vector lattice_place(const Lattice& lattice, std::uint64_t identity);

/// Particles 1 to `count` in a cube: at places of the lattice if it has cells, else at random.
std::vector<Atom> placed(std::uint64_t count, double length, int lattice_cells, std::uint64_t seed);

/// Moves the second of each two partners to where a bond of its length ends, in a random direction.
void bring_partners_together(std::vector<Atom>& atoms, double length, std::uint64_t seed);

/// Gives all velocities of this temperature exactly, whose sum is zero.
void heat(std::vector<Atom>& atoms, double temperature, std::uint64_t seed);

}  // namespace lj_fluid
