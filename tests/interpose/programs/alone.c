/* For one process without a launcher: two barriers and an all-to-all of one int, checked. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int a = 7, b = 0;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Alltoall(&a, 1, MPI_INT, &b, 1, MPI_INT, MPI_COMM_SELF);
  MPI_Finalize();
  puts(b == 7 ? "right" : "wrong");
  return b != 7;
}
