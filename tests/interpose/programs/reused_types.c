/* Messages to itself of one derived type again and again, and then of another, which may have its handle.
 *
 *   reused_types CALLS   (of each)
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  enum { largest = 3 };
  double out[largest], in[largest];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int doubles = largest; doubles > 1; --doubles) {
    MPI_Datatype type;
    MPI_Type_contiguous(doubles, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < atoi(argv[1]); ++i) {
      for (int k = 0; k < doubles; ++k) out[k] = i + k, in[k] = -1;
      MPI_Sendrecv(out, 1, type, rank, 1, in, 1, type, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int k = 0; k < doubles; ++k)
        if (in[k] != out[k]) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Type_free(&type);
  }
  MPI_Finalize();
  return 0;
}
