/* Calls of no elements: broadcasts on one rank, and messages to nobody. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 10000; ++i) {
    MPI_Bcast(NULL, 0, MPI_DOUBLE, 0, MPI_COMM_SELF);
    MPI_Send(NULL, 0, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
