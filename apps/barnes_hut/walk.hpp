// What acts on a group of bodies: the tree is opened from its root until every cell is far enough away.
//
// Cells of other ranks are read as they are opened: first everything that is known here, then all children that the last
// round has asked for together, and so on to the leaves.
#pragma once

#include <span>
#include <vector>

#include "barnes_hut/kernel.hpp"
#include "barnes_hut/tree.hpp"
#include "remote/reader.hpp"

namespace barnes_hut {

/// The smallest box around a group.
struct Box {
  Point low, high;
};
Box box_of(std::span<const Body> bodies);

/// A whole tree, as one rank sees it.
struct Forest {
  Cell root;
  std::span<const Cell> upper;  // cells that every rank has
  std::span<const Cell> mine;
  std::span<const Body> bodies;  // mine
  int rank = 0;
};

struct TreeReaders {
  remote::Reader& cells;
  remote::Reader& bodies;
};

class Walk {
 public:
  /// theta: a cell is far enough from a box if its edge is below theta times the distance of its centre of mass, less what this
  /// is off the cell's middle (Barnes: A modified tree code, J. Comp. Phys. 87, 1990, for groups; Barnes in
  /// astro-ph/9409055 for the offset). 0: no cell ever is.
  Walk(const Forest& forest, const TreeReaders& readers, double theta)
      : forest_(forest), readers_(readers), theta_(theta) {}

  /// All that acts on what is in the box, itself included; until the next call.
  const Sources& sources_for(const Box& box);

 private:
  bool far(const Cell& cell) const;
  /// Deals with a cell and with all below it that is here.
  void visit(const Cell& top);
  void open(const Cell& cell);
  void open_leaf(const Cell& leaf);
  void fetch();

  const Forest& forest_;
  TreeReaders readers_;
  double theta_;
  Box box_;
  Sources sources_;
  std::vector<const Cell*> stack_;
  std::vector<Cell> asked_;         // cells of other ranks whose children are needed
  std::vector<Cell> asked_leaves_;  // and whose bodies are
  std::vector<Cell> fetched_;
};

}  // namespace barnes_hut
