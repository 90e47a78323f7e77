/* Receives of a derived type that end in a callback: of an attribute, when its communicator goes, and of MPI_COMM_SELF,
   when MPI does (MPI 4.1, 11.2.4). Two ranks; the code says whether all came, for MPICH's launcher may lose what is
   printed after MPI_Finalize. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { blocks = 1000, rounds = 8 };

static MPI_Datatype strided;
static MPI_Request request;
static double data[2 * blocks];
static int wrong;

static int wait_and_look(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2 * blocks; ++i) wrong += data[i] != (i % 2 == 0 ? *(int*)value : -1);
  return MPI_SUCCESS;
}

static void exchange(int rank, int round) {
  double sent[blocks];
  for (int i = 0; i < blocks; ++i) sent[i] = round;
  for (int i = 0; i < 2 * blocks; ++i) data[i] = -1;
  MPI_Irecv(data, 1, strided, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Send(sent, blocks, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, keyval, round;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(blocks, 1, 2, MPI_DOUBLE, &strided);
  MPI_Type_commit(&strided);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, wait_and_look, &keyval, NULL);
  for (round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_attr(comm, keyval, &round);
    exchange(rank, round);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &round);
  exchange(rank, round);
  MPI_Finalize();
  return wrong != 0;
}
