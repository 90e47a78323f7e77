/* A program whose time lies in the tail of one small collective: ranks that share cores compute for different times and
 * reduce one number, again and again; where the one that all wait for has no core, a call takes milliseconds.
 * Argument: how often. */
#include <mpi.h>
#include <stdlib.h>

/* Half to one and a half times 50 us, by the rank's own numbers. */
static void compute(unsigned* seed) {
  const double end = MPI_Wtime() + 50e-6 * (0.5 + rand_r(seed) % 1000 / 1000.0);
  while (MPI_Wtime() < end) {
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = argc > 1 ? atoi(argv[1]) : 400;
  unsigned seed = 17 * (unsigned)rank + 3;
  for (int i = 0; i < calls; ++i) {
    const double mine = rank + i;
    double sum = 0;
    compute(&seed);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2 + (double)size * i) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
  return 0;
}
