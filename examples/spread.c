// C: the mean and the spread of numbers that rank 0 has. It deals them out (bcast, scatter); two sums over all ranks
// give the mean and the variance (allreduce); the largest deviation of each rank goes back to rank 0 (gather). Prints
// what ran.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <wherry/wherry.h>

enum { times = 40 }; /* the learner tries strategies out; enough calls show one */

static double sum_over_ranks(double mine) {
  double sum = 0;
  wherry_allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  int count = rank == 0 ? 100 : 0; /* numbers per rank; only rank 0 knows */
  wherry_bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const int total = ranks * count;
  double* numbers = malloc((size_t)(rank == 0 ? total : 1) * sizeof *numbers);
  double* farthest = malloc((size_t)ranks * sizeof *farthest);
  double* mine = malloc((size_t)count * sizeof *mine);
  for (int i = 0; rank == 0 && i < total; ++i) numbers[i] = i;

  double mean = 0, variance = 0;
  for (int t = 0; t < times; ++t) {
    wherry_scatter(numbers, count, MPI_DOUBLE, mine, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double sum = 0, squares = 0, most = 0;
    for (int i = 0; i < count; ++i) sum += mine[i];
    mean = sum_over_ranks(sum) / total;
    for (int i = 0; i < count; ++i) squares += (mine[i] - mean) * (mine[i] - mean);
    variance = sum_over_ranks(squares) / total;
    for (int i = 0; i < count; ++i) most = fmax(most, fabs(mine[i] - mean));
    wherry_gather(&most, 1, MPI_DOUBLE, farthest, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }

  /* Of 0, 1, ... total - 1 all is known; the last rank has the farthest number. */
  int right = 1;
  if (rank == 0)
    right = fabs(mean - (total - 1) / 2.0) < 1e-9 * total &&
            fabs(variance / ((total * (double)total - 1) / 12) - 1) < 1e-9 &&
            fabs(farthest[ranks - 1] - (total - 1 - mean)) < 1e-9 * total;
  wherry_bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("spread: %s, last by %s\n", right ? "right" : "WRONG", wherry_last_strategy());

  free(mine);
  free(farthest);
  free(numbers);
  MPI_Finalize();
  return right ? 0 : 1;
}
