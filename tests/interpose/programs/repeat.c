/* The same all-to-all again and again, checked each time. Argument: how often. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* send = malloc(2 * size * sizeof *send);
  int* recv = send + size;
  for (int i = 0; i < atoi(argv[1]); ++i) {
    for (int j = 0; j < size; ++j) send[j] = 1000 * rank + j + i;
    MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, MPI_COMM_WORLD);
    for (int j = 0; j < size; ++j)
      if (recv[j] != 1000 * j + rank + i) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  free(send);
  MPI_Finalize();
  return 0;
}
