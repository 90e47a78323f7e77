// How many domains a box is cut into in each dimension.
#pragma once

#include <array>
#include <optional>

#include "lj_fluid/particle.hpp"

namespace lj_fluid {

/// The grid of so many domains with the least surface, cut in at most so many dimensions, where no domain is narrower
/// than `width`; none if there is none.
std::optional<std::array<int, 3>> process_grid(int domains, int dimensions, const Vector& lengths,
                                               double width);

/// The most domains, up to this number, for which there is a grid; 0: the box itself is too narrow.
int most_domains(int domains, int dimensions, const Vector& lengths, double width);

}  // namespace lj_fluid
