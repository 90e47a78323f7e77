// Places in a cube as numbers: the octants from the whole cube down to a body's place, one octal digit each (Morton
// order).
#pragma once

#include <bit>
#include <cstdint>

#include "barnes_hut/bodies.hpp"

namespace barnes_hut {

using Key = std::uint64_t;
constexpr int most_levels = 21;  // three bits each

struct Point {
  double x = 0, y = 0, z = 0;
};

/// The cube that holds all bodies. Its edge is a power of two, so that edges of cells are exact.
struct Cube {
  Point low;
  double edge = 1;

  double edge_at(int level) const { return edge / static_cast<double>(std::uint64_t{1} << level); }
};

/// The smallest such cube from `low` on that reaches beyond `high`.
Cube cube_around(const Point& low, const Point& high);

Key key_of(const Body& body, const Cube& cube);

/// The middle of the cell at this level in which the key lies.
Point middle(Key key, int level, const Cube& cube);

/// Which of the eight cells below one of this level.
inline unsigned octant(Key key, int level) {
  return static_cast<unsigned>(key >> (3 * (most_levels - 1 - level))) & 7U;
}

/// The level of the smallest cell that holds both.
inline int common_level(Key a, Key b) {
  return a == b ? most_levels : most_levels - (static_cast<int>(std::bit_width(a ^ b)) + 2) / 3;
}

/// How many keys a cell of this level has.
inline Key keys_at(int level) { return Key{1} << (3 * (most_levels - level)); }

}  // namespace barnes_hut
