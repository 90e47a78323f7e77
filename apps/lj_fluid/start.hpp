// Where a fluid begins: at random places, or on a lattice; and how its box is cut into domains.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

/// The grid of so many domains with the least surface, cut in at most so many dimensions, where no domain is narrower
/// than `width`; none if there is none.
std::optional<std::array<int, 3>> process_grid(int domains, int dimensions, const Vector& lengths,
                                               double width);

/// The most domains, up to this number, for which there is a grid; 0: the box itself is too narrow.
int most_domains(int domains, int dimensions, const Vector& lengths, double width);

}  // namespace lj_fluid
