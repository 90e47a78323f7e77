#include "pme/decomposition.hpp"

#include <algorithm>

namespace pme {
namespace {

enum Axis { x = 0, y = 1, z = 2 };

Grid spectrum(Grid grid) {
  grid[z] = spectrum_length(grid[z]);
  return grid;
}

/// Which of `parts` parts spread over `ranks` ranks this one has; -1: none.
int part_of(int rank, int parts, int ranks) {
  const int candidate = static_cast<int>((static_cast<long long>(rank) * parts + ranks - 1) / ranks);
  const bool mine = candidate < parts && static_cast<long long>(candidate) * ranks / parts == rank;
  return mine ? candidate : -1;
}

std::vector<Box> slabs_along(Axis axis, const Grid& grid, int ranks) {
  const int parts = std::min(ranks, grid[axis]);
  std::vector<Box> boxes(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const int mine = part_of(rank, parts, ranks);
    if (mine < 0) continue;
    Box& box = boxes[static_cast<std::size_t>(rank)] = whole(grid);
    box.range[axis] = part(grid[axis], parts, mine);
  }
  return boxes;
}

/// Pencils along `along`: the other axes are divided, one by the row of a rank, one by its column.
std::vector<Box> pencils_along(Axis by_row, Axis by_column, const Grid& grid, Rectangle r) {
  std::vector<Box> boxes;
  for (int row = 0; row < r.rows; ++row)
    for (int column = 0; column < r.columns; ++column) {
      Box& box = boxes.emplace_back(whole(grid));
      box.range[by_row] = part(grid[by_row], r.rows, row);
      box.range[by_column] = part(grid[by_column], r.columns, column);
    }
  return boxes;
}

Transpose within_rows(Rectangle r) {
  Transpose t;
  for (int rank = 0; rank < r.rows * r.columns; ++rank) t.groups.push_back(rank / r.columns);
  return t;
}

Transpose within_columns(Rectangle r) {
  Transpose t;
  for (int rank = 0; rank < r.rows * r.columns; ++rank) t.groups.push_back(rank % r.columns);
  return t;
}

}  // namespace

Box Decomposition::real_box(int rank) const {
  Box box = layouts.front().boxes[static_cast<std::size_t>(rank)];
  if (box.points() > 0) box.range[z] = {0, grid[z]};
  return box;
}

Decomposition slabs(const Grid& grid, int ranks) {
  const Grid complex = spectrum(grid);
  return {.grid = grid,
          .layouts = {{"x slabs", slabs_along(x, complex, ranks), {y}},
                      {"y slabs", slabs_along(y, complex, ranks), {x}}},
          .transposes = {{std::vector<int>(static_cast<std::size_t>(ranks))}}};
}

Grid default_slab_grid(int ranks) {
  const int senders = std::min(ranks, 192);
  return {senders, std::max(1, (3 * senders + 2) / 4), 110};  // 56 complex values in a row
}

Decomposition pencils(const Grid& grid, int ranks) {
  const Grid complex = spectrum(grid);
  const Rectangle r = rectangle(ranks);
  return {.grid = grid,
          .layouts = {{"z pencils", pencils_along(x, y, complex, r), {}},
                      {"y pencils", pencils_along(x, z, complex, r), {y}},
                      {"x pencils", pencils_along(y, z, complex, r), {x}}},
          .transposes = {within_rows(r), within_columns(r)}};
}

Grid default_pencil_grid(int ranks) {
  const Rectangle r = rectangle(ranks);
  return {4 * r.rows, 2 * r.rows, 2 * (7 * r.columns - 1)};  // 4 x 2 x 7 complex values to each
}

Rectangle rectangle(int ranks) {
  int columns = 1;
  for (int c = 1; c * c <= ranks; ++c)
    if (ranks % c == 0) columns = c;
  return {ranks / columns, columns};
}

}  // namespace pme
