/* Calls large-count functions whether or not this MPI declares them, as mpi4py does; exits with 1 if a result is
 * wrong. */
#include <mpi.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGE extern __attribute__((weak))
LARGE int MPI_Alltoall_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, MPI_Comm);
LARGE int MPI_Alltoallv_c(const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype, void*, const MPI_Count[],
                          const MPI_Aint[], MPI_Datatype, MPI_Comm);
LARGE int MPI_Ialltoallv_c(const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype, void*, const MPI_Count[],
                           const MPI_Aint[], MPI_Datatype, MPI_Comm, MPI_Request*);
LARGE int MPI_Alltoallw_c(const void*, const MPI_Count[], const MPI_Aint[], const MPI_Datatype[], void*,
                          const MPI_Count[], const MPI_Aint[], const MPI_Datatype[], MPI_Comm);
LARGE int MPI_Gatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype,
                        int, MPI_Comm);
LARGE int MPI_Neighbor_alltoallv_c(const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype, void*,
                                   const MPI_Count[], const MPI_Aint[], MPI_Datatype, MPI_Comm);
LARGE int MPI_Sendrecv_c(const void*, MPI_Count, MPI_Datatype, int, int, void*, MPI_Count, MPI_Datatype, int, int,
                         MPI_Comm, MPI_Status*);
LARGE int MPI_Bcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
LARGE int MPI_Type_vector_c(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*);
LARGE int MPI_Type_contiguous_c(MPI_Count, MPI_Datatype, MPI_Datatype*);

enum { ranks_max = 16 };
static int rank, size, a[ranks_max], b[ranks_max];
static MPI_Count counts[ranks_max];
static MPI_Aint places[ranks_max];

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  exit(1);
}

/* After an all-to-all of one int each, block i is what rank i has for this rank. */
static void expect_exchanged(const char* what) {
  for (int i = 0; i < size; ++i) expect(b[i] == 100 * i + rank, what), b[i] = -1;
}

static void all_to_alls(void) {
  MPI_Datatype types[ranks_max];
  MPI_Request request;
  MPI_Alltoall_c(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);
  expect_exchanged("MPI_Alltoall_c");
  MPI_Alltoallv_c(a, counts, places, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD);
  expect_exchanged("MPI_Alltoallv_c");
  MPI_Ialltoallv_c(a, counts, places, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_exchanged("MPI_Ialltoallv_c");
  for (int i = 0; i < size; ++i) places[i] *= (MPI_Aint)sizeof(int), types[i] = MPI_INT;
  MPI_Alltoallw_c(a, counts, places, types, b, counts, places, types, MPI_COMM_WORLD);
  expect_exchanged("MPI_Alltoallw_c");
  for (int i = 0; i < size; ++i) places[i] /= (MPI_Aint)sizeof(int);
}

static void others(void) {
  MPI_Comm ring;
  int periodic = 1;
  MPI_Gatherv_c(&rank, 1, MPI_INT, b, rank == 0 ? counts : NULL, rank == 0 ? places : NULL, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) expect(b[i] == i, "MPI_Gatherv_c");
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Neighbor_alltoallv_c(&rank, (MPI_Count[]){1, 1}, (MPI_Aint[]){0, 0}, MPI_INT, b, (MPI_Count[]){1, 1},
                           (MPI_Aint[]){0, 1}, MPI_INT, ring);
  expect(b[0] == (rank + size - 1) % size && b[1] == (rank + 1) % size, "MPI_Neighbor_alltoallv_c");
  MPI_Comm_free(&ring);
  MPI_Sendrecv_c(&rank, 1, MPI_INT, (rank + 1) % size, 0, b, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  expect(b[0] == (rank + size - 1) % size, "MPI_Sendrecv_c");
}

/* Types of large-count constructors, which only large-count functions may ask about: anything else ends the program. */
static void large_types(void) {
  MPI_Datatype one, types[2];
  int ones[ranks_max], steps[ranks_max];
  for (int i = 0; i < size; ++i) ones[i] = 1, steps[i] = i;
  if (MPI_Type_vector_c == NULL) return;
  MPI_Type_contiguous_c(1, MPI_INT, &types[0]);
  MPI_Type_vector_c(1, 1, 2, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, sizeof(int), &types[1]);
  for (int t = 0; t < 2; ++t) {
    MPI_Type_commit(&types[t]);
    for (int i = 0; i < 3; ++i) {
      MPI_Alltoallv(a, ones, steps, types[t], b, ones, steps, types[t], MPI_COMM_WORLD);
      expect_exchanged("MPI_Alltoallv of a type made with large counts");
    }
    MPI_Type_free(&types[t]);
  }
  MPI_Type_free(&one);
}

/* A count beyond int either works (a library with large counts; here the type is empty) or is refused. */
static void too_large(int refused) {
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Bcast_c(a, (MPI_Count)INT_MAX + 1, empty, 0, MPI_COMM_WORLD);
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  expect(class == (refused ? MPI_ERR_COUNT : MPI_SUCCESS), "a count beyond int");
  MPI_Type_free(&empty);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect(MPI_Alltoall_c != NULL, "large-count functions are there");
  for (int i = 0; i < size; ++i) a[i] = 100 * rank + i, counts[i] = 1, places[i] = i;
  all_to_alls();
  others();
  large_types();
  too_large(argc > 1);
  MPI_Finalize();
  return 0;
}
