/* Ten barriers, then one of the ways a program may end. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* end = argv[1];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 10; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(end, "finalize") == 0) MPI_Finalize();
  if (strcmp(end, "exit") == 0) exit(0);
  if (strcmp(end, "_exit") == 0) _exit(0);
  if (strcmp(end, "kill") == 0) raise(SIGKILL);
  if (strcmp(end, "segfault") == 0) raise(SIGSEGV);
  if (strcmp(end, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  if (strcmp(end, "abort") == 0) MPI_Finalize(); /* MPICH may return before it ends the ranks */
  return 0;
}
