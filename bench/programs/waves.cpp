// waves.c in C++: the work arrays of a step are vectors.
//   mpiexec -n 2 waves [STEPS]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

constexpr int rows = 256, columns = 256;  // of each rank: an array is 0.5 MB
constexpr double dt = 0.2, damping = 0.001;

using Field = std::vector<double>;

struct Ranks {
  int own = 0, all = 1;
  Ranks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
  }
};

// height has a row more at either end, which is the neighbor's.
void exchange_edges(Field& height, const Ranks& ranks) {
  const int up = (ranks.own + 1) % ranks.all, down = (ranks.own + ranks.all - 1) % ranks.all;
  double* const first = height.data();
  MPI_Sendrecv(first + rows * columns, columns, MPI_DOUBLE, up, 0, first, columns, MPI_DOUBLE, down, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(first + columns, columns, MPI_DOUBLE, down, 1, first + (rows + 1) * columns, columns,
               MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

Field laplacian(const Field& height) {
  Field force(rows * columns);
  for (int r = 0; r < rows; ++r) {
    const double* here = height.data() + (r + 1) * columns;
    double* out = force.data() + r * columns;
    for (int c = 1; c < columns - 1; ++c)
      out[c] = here[c - 1] + here[c + 1] + here[c - columns] + here[c + columns] - 4 * here[c];
  }
  return force;
}

void step(Field& height, Field& speed, const Ranks& ranks) {
  exchange_edges(height, ranks);
  const Field force = laplacian(height);
  Field faster(speed.size()), higher(speed.size());
  for (std::size_t i = 0; i < speed.size(); ++i) faster[i] = (1 - damping) * speed[i] + dt * force[i];
  for (std::size_t i = 0; i < speed.size(); ++i) higher[i] = height[columns + i] + dt * faster[i];
  std::ranges::copy(faster, speed.begin());
  std::ranges::copy(higher, height.begin() + columns);
}

double energy(const Field& speed) {
  double own = std::inner_product(speed.begin(), speed.end(), speed.begin(), 0.0), all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void run(int steps) {
  const Ranks ranks;
  Field height((rows + 2) * columns), speed(rows * columns);
  for (int c = columns / 4; c < columns / 2; ++c) height[rows / 2 * columns + c] = 1 + ranks.own;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < steps; ++i) step(height, speed, ranks);
  const double seconds = MPI_Wtime() - start, end = energy(speed);
  if (ranks.own == 0) std::printf("loop %.6f\nenergy %.15g\n", seconds, end);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run(argc > 1 ? std::atoi(argv[1]) : 2000);
  MPI_Finalize();
}
