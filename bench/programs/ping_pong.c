/* Two ranks send 8 bytes to and fro; further ranks in pairs, too.

       mpicc -O2 ping_pong.c -o ping_pong && mpiexec -n 2 ./ping_pong [round trips]

   Prints "loop SECONDS", of the slowest pair, and "sum NUMBER", of what came. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double round_trip(double value, int rank, int partner) {
  if (rank % 2 == 0) {
    MPI_Send(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    value += 1;
    MPI_Send(&value, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
  }
  return value;
}

int main(int argc, char** argv) {
  const long round_trips = argc > 1 ? atol(argv[1]) : 1000000;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int partner = rank ^ 1;
  double value = 0, longest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long i = 0; i < round_trips && partner < size; ++i) value = round_trip(value, rank, partner);
  const double seconds = MPI_Wtime() - begin;
  MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("loop %.6f\nsum %.17g\n", longest, value);
  MPI_Finalize();
  return 0;
}
