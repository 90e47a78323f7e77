// Are the halos of real programs as fast by derived datatypes as packed by hand, whatever calls exchange them?
//
//   bench_halo_types --edge 1024 --steps 10 --turns 10
// Made after the description of Adefemi, arXiv 2511.13804 (2025): a Jacobi solver, the Game of Life and the
// reconstruction of an image on a lattice, each on a periodic grid of two dimensions, with halos exchanged by
// point-to-point calls, by MPI_Neighbor_alltoallw and by persistent requests; packed by loops, or by vectors and
// subarrays. Variants take turns: "packed" and "native" call the library past a preload, "wherry" calls MPI_*, which it
// sees. First all must give the cells that a serial computation gives. Prints one JSON line per case and variant.
#include "halo_types.hpp"

#include <deque>

#include "measure.hpp"

namespace bench {
namespace {

void smooth(const Grid<double>& old, Grid<double>& next) {
  old.each([&](int r, int c) {
    next.at(r, c) = 0.25 * (old.at(r - 1, c) + old.at(r + 1, c) + old.at(r, c - 1) + old.at(r, c + 1));
  });
}

void live(const Grid<unsigned char>& old, Grid<unsigned char>& next) {
  old.each([&](int r, int c) {
    int neighbors = 0;
    for (int y = r - 1; y <= r + 1; ++y)
      for (int x = c - 1; x <= c + 1; ++x) neighbors += old.at(y, x);
    neighbors -= old.at(r, c);
    next.at(r, c) = neighbors == 3 || (neighbors == 2 && old.at(r, c) == 1) ? 1 : 0;
  });
}

/// What the edges of an image say of the pixel at a place of the whole grid.
float edge_at(int r, int c) { return static_cast<float>((r * 7 + c * 13) % 11) - 5; }

/// The inverse of edge detection, by relaxation.
void reconstruct(const Grid<float>& old, Grid<float>& next) {
  old.each([&](int r, int c) {
    next.at(r, c) = 0.25F * (old.at(r - 1, c) + old.at(r + 1, c) + old.at(r, c - 1) + old.at(r, c + 1) -
                             edge_at(old.first_row + r, old.first_column + c));
  });
}

template <class Cell>
struct Program {
  const char* name;
  Neighbors neighbors;
  Types types;
  Cell (*begin)(int row, int column);  // of the whole grid
  void (*step)(const Grid<Cell>&, Grid<Cell>&);
};

const Program<double> jacobi{"Jacobi", Neighbors::four, Types::vectors,
                             [](int r, int c) { return static_cast<double>((r * 31 + c * 17) % 97); },
                             smooth};
const Program<unsigned char> life{
    "Life", Neighbors::eight, Types::subarrays,
    [](int r, int c) { return static_cast<unsigned char>((r * c + r + 3 * c) % 3 == 0); }, live};
const Program<float> lattice{"lattice", Neighbors::four, Types::subarrays, [](int, int) { return 255.0F; },
                             reconstruct};

/// A program of one variant: two grids that take turns, and the exchange of each.
template <class Cell>
class Run {
 public:
  Run(const Program<Cell>& program, const Decomposition& where, int edge, Calling calling, bool packs,
      const Calls& mpi)
      : program_(program), comm_(where.comm), grids_{Grid<Cell>(where, edge), Grid<Cell>(where, edge)} {
    for (Grid<Cell>& grid : grids_) {
      grid.each(
          [&](int r, int c) { grid.at(r, c) = program.begin(grid.first_row + r, grid.first_column + c); });
      halos_.emplace_back(grid, where, program.neighbors, program.types, calling, packs, mpi);
    }
  }
  /// Returns the seconds that the exchanges took. Before each the ranks meet, lest it be told what they waited for one
  /// that computes longer.
  double steps(int count) {
    double exchanging = 0;
    for (int i = 0; i < count; ++i) {
      PMPI_Barrier(comm_);
      const double start = MPI_Wtime();
      halos_[now_].exchange();
      exchanging += MPI_Wtime() - start;
      program_.step(grids_[now_], grids_[1 - now_]);
      now_ = 1 - now_;
    }
    return exchanging;
  }
  const Grid<Cell>& grid() const { return grids_[now_]; }

 private:
  const Program<Cell>& program_;
  MPI_Comm comm_;
  Grid<Cell> grids_[2];
  std::deque<Halo<Cell>> halos_;  // stay where they are
  std::size_t now_ = 0;
};

/// The cells of the whole grid after so many steps, computed by one process with no message.
template <class Cell>
Grid<Cell> serial(const Program<Cell>& program, const Decomposition& where, int edge, int steps) {
  Decomposition one = where;
  one.rows = one.columns = 1;
  one.row = one.column = 0;
  Grid<Cell> old(one, edge * where.rows, edge * where.columns), next = old;
  old.each([&](int r, int c) { old.at(r, c) = program.begin(r, c); });
  for (int i = 0; i < steps; ++i) {
    old.wrap();
    program.step(old, next);
    std::swap(old, next);
  }
  return old;
}

const struct {
  const char* name;
  bool packs;
  const Calls& mpi;
} variants[] = {
    {"packed", true, of_the_library}, {"native", false, of_the_library}, {"wherry", false, of_the_program}};
constexpr struct {
  const char* name;
  Calling calling;
} callings[] = {{"point-to-point", Calling::point_to_point},
                {"neighborhood", Calling::neighborhood},
                {"persistent", Calling::persistent}};

template <class Cell>
void check(const std::string& name, const Grid<Cell>& found, const Grid<Cell>& expected) {
  found.each([&](int r, int c) {
    if (found.at(r, c) != expected.at(found.first_row + r, found.first_column + c))
      end_with(name + ": the cell in row " + std::to_string(r) + ", column " + std::to_string(c) +
               " is not that of the serial computation; a halo is wrong");
  });
}

struct Effort {
  int edge, steps, warm, turns;
};

/// A small grid, for many steps: each variant against the serial computation.
template <class Cell>
void check_all(const Program<Cell>& program, const Decomposition& where) {
  constexpr int edge = 24, steps = 40;
  const Grid<Cell> expected = serial(program, where, edge, steps);
  for (const auto& [how, calling] : callings)
    for (const auto& [name, packs, mpi] : variants) {
      Run<Cell> run(program, where, edge, calling, packs, mpi);
      run.steps(steps);
      check(std::string(program.name) + ", " + how + ", " + name, run.grid(), expected);
    }
}

template <class Cell>
void measure(const Program<Cell>& program, const Decomposition& where, const Effort& effort) {
  check_all(program, where);
  for (const auto& [how, calling] : callings) {
    std::deque<Run<Cell>> runs;
    for (const auto& variant : variants)
      runs.emplace_back(program, where, effort.edge, calling, variant.packs, variant.mpi);
    std::vector<double> steps[std::size(variants)], exchanges[std::size(variants)];
    for (int turn = -effort.warm; turn < effort.turns; ++turn)
      for (std::size_t v = 0; v < runs.size(); ++v) {
        double mine = 0, slowest = 0;
        const double step = time_calls(where.comm, 1, [&] { mine = runs[v].steps(effort.steps); });
        PMPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, where.comm);
        if (turn < 0) continue;
        steps[v].push_back(step / effort.steps);
        exchanges[v].push_back(slowest / effort.steps);
      }
    const std::string name = std::string(program.name) + ", " + how;
    for (std::size_t v = 0; v < runs.size(); ++v) {
      if (!runs[v].grid().same_cells(runs[0].grid())) end_with(name + ": the variants have different cells");
      if (where.rank != 0) continue;
      print(name + ", exchange", variants[v].name, exchanges[v]);
      print(name + ", step", variants[v].name, steps[v]);
    }
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  MPI_Init(&argc, &argv);
  {
    const Decomposition where = decompose(MPI_COMM_WORLD);
    const Effort effort{number(argc, argv, "--edge", 1024), number(argc, argv, "--steps", 10),
                        number(argc, argv, "--warm", 3), number(argc, argv, "--turns", 10)};
    measure(jacobi, where, effort);
    measure(life, where, effort);
    measure(lattice, where, effort);
  }
  MPI_Finalize();
}
