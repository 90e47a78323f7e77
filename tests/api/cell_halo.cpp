// Layers of cells around each rank's own, in one to three dimensions, periodic or not: every cell against what its
// place in the whole grid says, edges and corners too; members that do not travel, cells beyond the box, and what is
// refused.
#include <wherry/cell_halo.hpp>

#include <string>
#include <vector>

#include "check.hpp"

namespace {

struct Cell {
  char kind = 'k';
  double density = -1;
  int place = -1;
  bool operator==(const Cell&) const = default;
};

/// The number of a cell in the whole grid, and whether it is inside; beyond a periodic boundary it is the one on the
/// other side.
template <std::size_t D>
bool place_of(const wherry::CellGrid<D>& grid, const std::array<int, D>& all, std::array<int, D> cell,
              int& place) {
  place = 0;
  for (std::size_t i = 0; i < D; ++i) {
    cell[i] += grid.first()[i];
    if (cell[i] < 0 || cell[i] >= all[i]) {
      if (!grid.decomposition().box().periodic[i]) return false;
      cell[i] = (cell[i] + all[i]) % all[i];
    }
    place = place * all[i] + cell[i];
  }
  return true;
}

/// f(cell, whether it is this rank's own) for all of the array.
template <std::size_t D, class F>
void each_cell(const wherry::CellGrid<D>& grid, F f) {
  std::array<int, D> cell;
  for (std::size_t n = 0; n < grid.size(); ++n) {
    std::size_t rest = n;
    bool own = true;
    for (std::size_t i = D; i-- > 0; rest /= static_cast<std::size_t>(grid.extents()[i])) {
      cell[i] = static_cast<int>(rest % static_cast<std::size_t>(grid.extents()[i])) - grid.width();
      own &= cell[i] >= 0 && cell[i] < grid.own()[i];
    }
    f(cell, own);
  }
}

template <std::size_t D>
void check_grid(test::Checks& checks, int periodicity, int width) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  wherry::Box<D> box;
  std::array<int, D> all;
  for (std::size_t i = 0; i < D; ++i) {
    box.upper[i] = 1;
    box.periodic[i] = (periodicity >> i & 1) != 0;
    all[i] = 2 * ranks + 1 + static_cast<int>(i);
  }
  const wherry::Decomposition<D> decomposition(MPI_COMM_WORLD, box);
  const wherry::CellGrid<D> grid(decomposition, all, width);
  std::vector<Cell> whole(grid.size()), some(grid.size());
  wherry::CellHalo<Cell, D> halo(grid, whole);
  wherry::CellHalo<Cell, D, &Cell::place> places(grid, some);
  for (int step = 0; step < 3; ++step) {
    each_cell<D>(grid, [&](const std::array<int, D>& cell, bool own) {
      int place = 0;
      if (own && place_of<D>(grid, all, cell, place))
        whole[grid.index(cell)] = some[grid.index(cell)] = {'o', place + 0.5 * step, place + step};
    });
    halo.start(), places.start();
    places.finish(), halo.finish();
    each_cell<D>(grid, [&](const std::array<int, D>& cell, bool own) {
      int place = 0;
      const bool inside = place_of<D>(grid, all, cell, place);
      const Cell expected = inside ? Cell{'o', place + 0.5 * step, place + step} : Cell{};
      checks.that(whole[grid.index(cell)] == expected, "a cell is not what it is in the whole grid");
      if (own) return;
      checks.that(some[grid.index(cell)] == Cell{'k', -1, inside ? place + step : -1},
                  "other members than the chosen one");
    });
  }
}

template <class Action>
bool refused(Action action, const char* part) {
  try {
    action();
  } catch (const wherry::usage_error& error) {
    return std::string(error.what()).find(part) != std::string::npos;
  }
  return false;
}

void check_refused(test::Checks& checks) {
  const wherry::Decomposition<1> line(MPI_COMM_WORLD, {{0}, {1}, {true}});
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  checks.that(refused([&] { wherry::CellGrid<1>(line, {ranks}, 2); }, "too few for 2 layers"),
              "a layer of more than one rank");
  const wherry::CellGrid<1> grid(line, {2 * ranks}, 1);
  std::vector<Cell> cells(grid.size() + 1);
  checks.that(refused([&] { wherry::CellHalo<Cell, 1>(grid, cells); }, "make it of grid.size()"),
              "an array of another size");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::Checks checks;
  for (int width : {0, 1, 2}) {
    for (int periodicity = 0; periodicity < 2; ++periodicity) check_grid<1>(checks, periodicity, width);
    for (int periodicity = 0; periodicity < 4; ++periodicity) check_grid<2>(checks, periodicity, width);
    for (int periodicity : {0, 2, 5, 7}) check_grid<3>(checks, periodicity, width);
  }
  check_refused(checks);
  const int code = checks.exit_code();
  MPI_Finalize();
  return code;
}
