/* Messages to itself from one place, of elements with gaps: few, as many as the kernels take, and one for which there is
 * much room.
 *
 *   sparse_types CALLS   (of each)
 */
#include <mpi.h>
#include <stdlib.h>

enum { doubles = 5, extent = 2 * doubles - 1, few = 17, many = 32, room = 64 };

static double out[room * extent], in[room * extent];

static void exchange(MPI_Datatype type, int rank, int sent, int received) {
  in[(sent - 1) * extent] = -1;
  MPI_Sendrecv(out, sent, type, rank, 1, in, received, type, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (in[(sent - 1) * extent] != out[(sent - 1) * extent]) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Datatype type;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(doubles, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < room * extent; ++i) out[i] = i;
  for (int i = 0; i < atoi(argv[1]); ++i) {
    exchange(type, rank, few, few);
    exchange(type, rank, many, many);
    exchange(type, rank, 1, room);
  }
  MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
