// A program that ends as its first argument says: with a code, by a signal on rank 1, or not at all on rank 0.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

static KEEP int meet(void) { return MPI_Barrier(MPI_COMM_WORLD) + 1; }  // no tail call

enum { messages = 1000 };  // so many that they are only counted

static KEEP void take(int count) {
  for (int i = 0, got = 0; i < count; ++i)
    MPI_Recv(&got, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

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
    if (rank == 0) take(1);
    pause();
  }
  if (strcmp(argv[1], "hang late") == 0) {
    if (rank == 0) take(messages + 1);
    for (int i = 0; i < messages; ++i) MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    pause();
  }
  MPI_Finalize();
  return atoi(argv[1]);
}
