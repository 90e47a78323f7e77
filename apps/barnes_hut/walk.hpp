// What acts on a group of bodies: the tree is opened from its root until every cell is far enough away.
//
// What other ranks have is read as it is opened: first everything that is known here, then all that the last round has
// asked for together, and so on to the leaves. A get brings what belongs together: all cells of a small subtree, or all
// of its bodies.
#pragma once

#include <span>
#include <vector>

#include "barnes_hut/kernel.hpp"
#include "barnes_hut/tree.hpp"
#include "remote/batch.hpp"

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

struct WalkOptions {
  /// A cell is far enough from a box if its edge is below theta times the distance of its centre of mass, less what
  /// this is off the cell's middle (Barnes: A modified tree code, J. Comp. Phys. 87, 1990, for groups; Barnes in
  /// astro-ph/9409055 for the offset). 0: no cell ever is.
  double theta = 0.5;
  /// Most bodies of a subtree that is read as a whole. Of larger cells a get brings the children; with 0 each leaf is
  /// read alone.
  std::int32_t subtree = 128;
};

class Walk {
 public:
  Walk(const Forest& forest, const TreeReaders& readers, const WalkOptions& options)
      : forest_(forest), readers_(readers), options_(options) {}

  /// All that acts on what is in the box, itself included; until the next call.
  const Sources& sources_for(const Box& box);

 private:
  /// A cell of another rank, and where what was read for it begins in the last round's cells.
  struct Opened {
    Cell cell;
    std::size_t place = 0;
  };
  /// Bodies of another rank that act, in the round's bodies.
  struct Leaf {
    std::size_t place, count;
  };

  bool far(const Cell& cell) const;
  bool is_small(const Cell& cell) const { return cell.bodies <= options_.subtree; }
  remote::Stretch read_for(const Cell& cell) const;
  /// Deals with what is on the stack, and with all below it that is here. `above`: what it was read for.
  void descend(const Opened& above);
  void open(const Cell& cell, const Opened& above);
  void open_leaf(const Cell& leaf, const Opened& above);
  std::span<const Cell> children_of(const Cell& cell, const Opened& above) const;
  void fetch();

  const Forest& forest_;
  TreeReaders readers_;
  WalkOptions options_;
  Box box_;
  Sources sources_;
  std::vector<const Cell*> stack_;
  remote::Batch<Cell> cells_;
  remote::Batch<Body> bodies_;
  std::vector<Opened> asked_, read_;  // in this round, in the last one
  std::vector<Leaf> leaves_;          // asked for in this round
};

}  // namespace barnes_hut
