/* Traps floating-point exceptions and loops over small collectives until Wherry has decided several times. Ends with
 * 0 if no trap has killed it, no flag is raised and the sum is right. Argument: how often each is called. */
#define _GNU_SOURCE
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 64, TRAPPED = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW };

int main(int argc, char** argv) {
  feenableexcept(TRAPPED);
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 2000;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double one = 1, sum = 0;
  double *out = calloc((size_t)(2 * COUNT * size), sizeof *out), *in = out + COUNT * size;
  feclearexcept(FE_ALL_EXCEPT);
  for (int i = 0; i < calls; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(out, COUNT / 4, MPI_DOUBLE, i % size, MPI_COMM_WORLD);
    if (i % 4 == 0) MPI_Alltoall(out, COUNT, MPI_DOUBLE, in, COUNT, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  const int raised = fetestexcept(TRAPPED | FE_UNDERFLOW);
  printf("rank %d: sum %g, flags %d\n", rank, sum, raised);
  free(out);
  MPI_Finalize();
  return raised != 0 || sum != size;
}
