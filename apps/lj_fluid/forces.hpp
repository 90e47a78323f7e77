// Forces of pairs in Verlet lists, each added to both particles.
#pragma once

#include <cstddef>
#include <span>

#include "lj_fluid/pairs.hpp"
#include "lj_fluid/physics.hpp"

namespace lj_fluid {

/// Adds the forces of the lists of particles first to last - 1 to all sites that they concern. totals: null, or what
/// energy and virial are added to. Two particles at one place get forces that are no numbers.
void add_forces(std::span<Site> sites, const PairLists& lists, std::size_t first, std::size_t last,
                const Potential& potential, Totals* totals);

/// The same, one pair after the other.
void add_forces_scalar(std::span<Site> sites, const PairLists& lists, std::size_t first, std::size_t last,
                       const Potential& potential, Totals* totals);

}  // namespace lj_fluid
