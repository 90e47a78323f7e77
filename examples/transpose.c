// C: transposes a square matrix whose rows are spread over the ranks, as FFTs do. Every rank holds one row; element c
// of it goes to rank c. Prints what ran.
#include <stdio.h>
#include <stdlib.h>
#include <wherry/wherry.h>

enum { times = 20 }; /* the learner tries strategies out; enough calls show one */

static double element(int row, int column) { return 1000.0 * row + column; }

static int is_transposed(const double* column, int rank, int ranks) {
  for (int row = 0; row < ranks; ++row)
    if (column[row] != element(row, rank)) return 0;
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  double* row = malloc((size_t)ranks * sizeof *row);
  double* column = malloc((size_t)ranks * sizeof *column);
  for (int c = 0; c < ranks; ++c) row[c] = element(rank, c);

  for (int i = 0; i < times; ++i) wherry_alltoall(row, 1, MPI_DOUBLE, column, 1, MPI_DOUBLE, MPI_COMM_WORLD);

  int right = is_transposed(column, rank, ranks), all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0)
    printf("transpose: %s, last by %s, Wherry %s\n", all_right ? "right" : "WRONG", wherry_last_strategy(),
           wherry_version());

  free(row);
  free(column);
  MPI_Finalize();
  return all_right ? 0 : 1;
}
