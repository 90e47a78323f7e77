/* Two ranks that exchange messages while processes that are none of them want their cores, for so many seconds.
 * Arguments: seconds, other processes beside each rank. Prints "right" or "wrong". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LENGTH = 64, MOST_OTHERS = 16 };

static pid_t other_process(void) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    for (volatile long i = 0;; ++i) {
    }
  }
  return child;
}

int main(int argc, char** argv) {
  pid_t others[MOST_OTHERS];
  int rank, wrong = 0, any_wrong, n = 0;
  double out[LENGTH], in[LENGTH];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double seconds = atof(argv[1]);
  for (n = 0; n < atoi(argv[2]) && n < MOST_OTHERS; ++n) others[n] = other_process();
  const double begin = MPI_Wtime();
  /* Rank 0 says in each message whether it is the last. */
  for (int step = 0, goes_on = 1; goes_on; ++step) {
    for (int i = 0; i < LENGTH; ++i) out[i] = rank * 1000 + step + i;
    if (rank == 0) out[0] = goes_on = MPI_Wtime() - begin < seconds;
    MPI_Sendrecv(out, LENGTH, MPI_DOUBLE, !rank, 0, in, LENGTH, MPI_DOUBLE, !rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 1) goes_on = in[0] != 0;
    for (int i = 1; i < LENGTH; ++i) wrong |= in[i] != !rank * 1000 + step + i;
  }
  for (int i = 0; i < n; ++i) kill(others[i], SIGKILL), waitpid(others[i], NULL, 0);
  MPI_Reduce(&wrong, &any_wrong, 1, MPI_INT, MPI_LOR, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(any_wrong ? "wrong" : "right");
  MPI_Finalize();
  return wrong;
}
