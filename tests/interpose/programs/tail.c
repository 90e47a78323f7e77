/* Preloaded behind Wherry: a library whose allreduce is mostly quick, and takes 80 ms in one call of eight.
 *
 * It sleeps on all ranks in the same calls, as a rank without a core holds all others up; the median does not show
 * it. */
#include <mpi.h>
#include <unistd.h>

static unsigned calls;

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (++calls % 8 == 0) usleep(80000);
  return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
