// The pairs of bodies as pieces of a triangle, and fair shares of them.
//
// A known formula ends rank r of p at row n - (p + sqrt((n - 1) p ((n - 1) p - (r + 1) n))) / p, rounded;
// for the last rank the root is of -(n - 1) p^2, no number. Here shares are counted in pairs, in integers: a share may
// begin and end inside a row, so that no two shares of a piece differ by more than one pair.
#pragma once

#include <cstdint>
#include <vector>

#include "nbody/bodies.hpp"

namespace nbody {

/// All pairs of a row and a column, of ranges that do not overlap; or, where both ranges are the same, the pairs i < j
/// of that range.
struct Piece {
  Range rows, columns;
  bool is_triangle() const { return rows == columns; }
  std::uint64_t pairs() const;
  bool operator==(const Piece&) const = default;
};
using Work = std::vector<Piece>;

std::uint64_t pairs(const Work& work);

/// Part `part` of `parts` of a piece's pairs, counted row by row; pairs differ by one at most between parts.
Work share(const Piece& piece, std::size_t part, std::size_t parts);

/// The same of several pieces, each for itself.
Work share(const Work& work, std::size_t part, std::size_t parts);

/// All of it in steps of at most so many pairs, cut where kernels begin anew in any case: between tiles of columns
/// first, then between groups of rows. A step has more pairs if it cannot be cut there.
std::vector<Work> steps(const Work& work, std::uint64_t most_pairs);

/// The rows that an even split of the bodies gives: as many rows to each part, but not as many pairs.
Work equal_rows(std::size_t bodies, std::size_t part, std::size_t parts);

/// What is still to do in the columns from `columns.begin` when all columns from `columns.end` are done: after it the
/// sums of `columns` are final.
Work column_block(Range columns);

}  // namespace nbody
