// How the grid of a parallel FFT lies on the ranks from one transform to the next.
#pragma once

#include <string>
#include <vector>

#include "pme/boxes.hpp"

namespace pme {

/// A distribution of the transformed grid, and the axes that are whole on every rank in it.
struct Layout {
  std::string name;        // "x slabs"
  std::vector<Box> boxes;  // one for each rank
  std::vector<int> transformed;
};

/// From one layout to the next, ranks exchange with those of their group only.
struct Transpose {
  std::vector<int> groups;  // one number for each rank
};

/// Transforms along z, then those of the layouts, with a transpose between one layout and the next.
struct Decomposition {
  Grid grid;                          // of real values
  std::vector<Layout> layouts;        // of complex values, z / 2 + 1 along z
  std::vector<Transpose> transposes;  // one fewer

  int ranks() const { return static_cast<int>(layouts.front().boxes.size()); }
  /// Of real values: the first layout's box with all of z.
  Box real_box(int rank) const;
};

/// z values transform to so many complex ones: the others follow by symmetry.
constexpr int spectrum_length(int z) { return z / 2 + 1; }

/// Slabs of x, then slabs of y. Fewer slabs than ranks leave ranks without; the others are spread over all.
Decomposition slabs(const Grid& grid, int ranks);
/// A grid with the source's pattern: a plane for each of up to 192 ranks, then a plane for each of three quarters as
/// many (144), and 896 bytes from each of those to each of these.
Grid default_slab_grid(int ranks);

/// Pencils along z, then y, then x, on rows x columns of ranks. Transposes stay in a row, then in a column.
Decomposition pencils(const Grid& grid, int ranks);
/// 896 bytes from each rank to each in its column.
Grid default_pencil_grid(int ranks);

/// Rows and columns of all ranks, as nearly equal as the number allows; no more columns than rows.
struct Rectangle {
  int rows, columns;
};
Rectangle rectangle(int ranks);

}  // namespace pme
