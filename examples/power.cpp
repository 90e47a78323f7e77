// C++: the largest eigenvalue of a symmetric matrix by power iteration. Every rank has some rows; each step multiplies
// them with the vector and collects the whole vector on all ranks (allgather); the eigenvalue is a sum over ranks
// (allreduce).
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <wherry/wherry.hpp>

constexpr int rows = 4;  // of each rank
constexpr int steps = 200;

/// The second difference, as of a string with fixed ends: 2 on the diagonal, -1 beside it. One row times x.
double row_times(int row, const std::vector<double>& x) {
  const int last = static_cast<int>(x.size()) - 1;
  return 2 * x[row] - (row > 0 ? x[row - 1] : 0) - (row < last ? x[row + 1] : 0);
}

/// The largest eigenvalue, from the formula for this matrix.
double known_eigenvalue(int size) { return 2 - 2 * std::cos(std::numbers::pi * size / (size + 1)); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int size = ranks * rows;

  std::vector<double> x(size), mine(rows);
  for (int i = 0; i < size; ++i) x[i] = i % 2 == 0 ? 1 : -1;
  double eigenvalue = 0;
  for (int step = 0; step < steps; ++step) {
    std::array<double, 2> sums{};  // x * A x and |A x|^2
    for (int i = 0; i < rows; ++i) {
      mine[i] = row_times(rank * rows + i, x);
      sums[0] += x[rank * rows + i] * mine[i];
      sums[1] += mine[i] * mine[i];
    }
    wherry::allreduce(sums, wherry::op::sum{}, MPI_COMM_WORLD);
    const double length = std::sqrt(sums[1]);
    eigenvalue = sums[0];  // x has length 1 after the first step
    for (double& value : mine) value /= length;
    wherry::allgather(mine, x, MPI_COMM_WORLD);
  }

  const double error = std::abs(eigenvalue - known_eigenvalue(size));
  if (rank == 0)
    std::printf("power: %s, largest eigenvalue %.6f, last by %s\n", error < 1e-3 ? "right" : "WRONG",
                eigenvalue, wherry_last_strategy());
  MPI_Finalize();
  return error < 1e-3 ? 0 : 1;
}
