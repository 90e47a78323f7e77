/* Every collective that may be replaced, some times each, on blocks or buffers of so many ints. Argument: how many. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? atoi(argv[1]) : 1;
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* a = calloc((size_t)n * size, sizeof *a);
  int* b = calloc((size_t)n * size, sizeof *b);
  const MPI_Comm comm = MPI_COMM_WORLD;
  for (int i = 0; i < 4; ++i) {
    MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, comm);
    MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, comm);
    MPI_Bcast(a, n, MPI_INT, 0, comm);
    MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, 0, comm);
    MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, 0, comm);
    MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, 0, comm);
    MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(comm);
  }
  free(a);
  free(b);
  MPI_Finalize();
  return 0;
}
