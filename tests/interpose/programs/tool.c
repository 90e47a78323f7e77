/* Another tool to preload: counts MPI_Alltoall as profiling tools do, by defining it and calling PMPI_Alltoall. */
#include <mpi.h>
#include <stdio.h>

static int calls;

int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm) {
  ++calls;
  return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("tool: rank %d saw %d\n", rank, calls);
  fflush(stdout);
  return PMPI_Finalize();
}
