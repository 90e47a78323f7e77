/* alltoall BLOCK CALLS: nothing but MPI_Alltoall of so many bytes, so that what is sent tells the algorithm. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int block = atoi(argv[1]), calls = atoi(argv[2]);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* send = calloc((size_t)size, (size_t)block);
  char* receive = calloc((size_t)size, (size_t)block);
  for (int i = 0; i < calls; ++i)
    MPI_Alltoall(send, block, MPI_BYTE, receive, block, MPI_BYTE, MPI_COMM_WORLD);
  free(send);
  free(receive);
  MPI_Finalize();
  return 0;
}
