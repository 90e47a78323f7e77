// Whether the force of every pair, m_i m_j d / r^3, can be computed as one number.
#pragma once

#include <optional>

#include "nbody/bodies.hpp"

namespace nbody {

/// A power of two near the largest mass, in units of which no force of these bodies overflows, vanishes or loses
/// digits. Nothing if there may be such forces: bodies without mass (nothing can be divided by that), masses or lengths
/// that are too different.
std::optional<double> unit_of_forces(const Points& rows, Range row_range, const Points& columns,
                                     Range column_range);

}  // namespace nbody
