// Vectors of some bodies in one piece of memory: all x, then all y, then all z.
#pragma once

#include <algorithm>
#include <span>

#include "nbody/bodies.hpp"

namespace nbody {

/// What stands between two components in a packed block of `capacity` bodies.
inline void pack(const Vectors& vectors, Range range, std::size_t capacity, std::span<double> to) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    std::ranges::copy(vectors[axis].subspan(range.begin, range.size()),
                      to.begin() + static_cast<long>(axis * capacity));
}

inline void unpack(std::span<const double> from, std::size_t capacity, Range range, Vectors& vectors) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    std::ranges::copy(from.subspan(axis * capacity, range.size()),
                      vectors[axis].begin() + static_cast<long>(range.begin));
}

/// Adds instead of replacing.
inline void unpack_adding(std::span<const double> from, std::size_t capacity, Range range, Vectors& vectors) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::span<double> sums = vectors[axis].subspan(range.begin, range.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += from[axis * capacity + i];
  }
}

}  // namespace nbody
