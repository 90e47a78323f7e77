// A program that ends as its first argument says: with a code, by a signal on rank 1, or not at all on rank 0.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

static KEEP int meet(void) { return MPI_Barrier(MPI_COMM_WORLD) + 1; }  // no tail call

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, sum;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  meet();
  if (strcmp(argv[1], "crash") == 0) {
    if (rank == 1) raise(SIGSEGV);
    pause();
  }
  if (strcmp(argv[1], "hang") == 0) {
    if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pause();
  }
  MPI_Finalize();
  return atoi(argv[1]);
}
