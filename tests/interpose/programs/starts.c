/* Persistent requests of a derived type between two ranks, which start so often: each by itself, then together.
 * Arguments: starts, an even number, of either request half; starts of both. Checks what arrives. */
#include <mpi.h>
#include <stdlib.h>

enum { elements = 512 };

static double sent[2 * elements], received[2 * elements];

static void exchange(MPI_Request requests[2], int together, int round) {
  for (int i = 0; i < elements; ++i) sent[2 * i] = i + round, received[2 * i] = -1;
  if (together) {
    MPI_Startall(2, requests);
  } else {
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < elements; ++i)
    if (received[2 * i] != i + round || received[2 * i + 1] != 0) MPI_Abort(MPI_COMM_WORLD, 4);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype type;
  MPI_Type_vector(elements, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Request requests[2];
  MPI_Recv_init(received, 1, type, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(sent, 1, type, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Type_free(&type);
  for (int round = 0; round < atoi(argv[1]) / 2; ++round) exchange(requests, 0, round);
  for (int round = 0; round < atoi(argv[2]); ++round) exchange(requests, 1, round);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
  MPI_Finalize();
  return 0;
}
