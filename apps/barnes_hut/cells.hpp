// Cells of an octree, and what they do to bodies far away.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "barnes_hut/bodies.hpp"
#include "barnes_hut/keys.hpp"

namespace barnes_hut {

/// Mass, centre of mass, and three times the second moments about it: the terms up to the quadrupole, also of softened
/// forces, for which the trace counts.
struct Moments {
  double x = 0, y = 0, z = 0, mass = 0;
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
};

/// Where a cell's children are.
constexpr std::int32_t on_every_rank = -1;

/// As other ranks read it. All that is below it lies together, cells in the owner's cells and bodies in the owner's
/// bodies.
struct Cell {
  Moments moments;
  double edge = 0;
  double offset = 0;  // of the centre of mass from the cell's middle
  std::int32_t owner = on_every_rank;
  std::int32_t first_child = 0;
  std::int32_t children = 0;  // 0: a leaf
  std::int32_t below = 0;     // cells, of which its children are the last; of a cell with an owner
  std::int32_t first_body = 0;
  std::int32_t bodies = 0;
};
static_assert(std::is_trivially_copyable_v<Cell>);

/// A cell at this level around the key, with the moments of the bodies in it, or of its children.
Cell cell_of(std::span<const Body> bodies, Key key, int level, const Cube& cube);
Cell cell_of(std::span<const Cell> children, Key key, int level, const Cube& cube);

}  // namespace barnes_hut
