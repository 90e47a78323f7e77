// Octrees over bodies in the order of their keys.
//
// A cell is as small as the bodies in it allow: one with bodies in a single octant is that octant. So cells with
// children have at least two, and the tree is the same whether it is made as a whole or of parts that ranks have made.
#pragma once

#include <span>
#include <vector>

#include "barnes_hut/cells.hpp"

namespace barnes_hut {

/// Consecutive bodies for which the tree is walked together.
struct Group {
  std::int32_t first = 0, count = 0;
};

struct TreeOptions {
  std::int32_t leaf = 16;   // most bodies of a leaf, where keys tell them apart
  std::int32_t group = 64;  // most bodies of a group, at least `leaf`
};

/// The trees that one rank has made.
struct Tree {
  std::vector<Cell> cells;  // children; what has no parent is not among them
  std::vector<Group> groups;
};

/// Makes the tree of the bodies [first, first + count), one or more; returns its root. keys: of all bodies, ascending.
Cell grow(Tree& tree, std::span<const Body> bodies, std::span<const Key> keys, std::int32_t first,
          std::int32_t count, std::int32_t owner, const Cube& cube, const TreeOptions& options);

/// A root that hangs elsewhere, and some key in it.
struct Branch {
  Key key = 0;
  Cell cell;
};

/// Makes the cells above branches, one or more, in the order of their keys; returns the root of all.
Cell join(std::vector<Cell>& cells, std::span<const Branch> branches, const Cube& cube);

}  // namespace barnes_hut
