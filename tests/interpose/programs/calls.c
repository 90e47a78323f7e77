/* Calls MPI functions of every kind and writes how often each to <folder>/expected-<rank>: what the record must say. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FUNCTIONS 128
static struct {
  const char* name;
  int count;
} expected[MAX_FUNCTIONS];

static void note(const char* name) {
  int i = 0;
  while (expected[i].name != NULL && strcmp(expected[i].name, name) != 0) ++i;
  expected[i].name = name;
  ++expected[i].count;
}
#define CALL(function, ...) (note(#function), function(__VA_ARGS__))

static int rank, size, next, previous;
static int a[64], b[64], counts[16], places[16];
static MPI_Datatype types[16];

static void point_to_point(MPI_Comm comm) {
  MPI_Request requests[4];
  MPI_Status statuses[4];
  int done = 0, index;
  for (int i = 0; i < 3; ++i)
    CALL(MPI_Sendrecv, a, 4, MPI_INT, next, 1, b, 4, MPI_INT, previous, 1, comm, MPI_STATUS_IGNORE);
  CALL(MPI_Irecv, b, 8, MPI_INT, previous, 2, comm, &requests[0]);
  CALL(MPI_Isend, a, 8, MPI_INT, next, 2, comm, &requests[1]);
  CALL(MPI_Waitall, 2, requests, statuses);
  CALL(MPI_Irecv, b, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[0]);
  CALL(MPI_Send, a, 1, MPI_INT, next, 3, comm);
  CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
  CALL(MPI_Send_init, a, 2, MPI_INT, next, 4, comm, &requests[0]);
  CALL(MPI_Recv_init, b, 2, MPI_INT, previous, 4, comm, &requests[1]);
  for (int i = 0; i < 5; ++i) {
    CALL(MPI_Startall, 2, requests);
    CALL(MPI_Waitany, 2, requests, &index, MPI_STATUS_IGNORE);
    CALL(MPI_Waitall, 2, requests, MPI_STATUSES_IGNORE);
  }
  CALL(MPI_Request_free, &requests[0]);
  CALL(MPI_Request_free, &requests[1]);
  CALL(MPI_Isend, a, 1, MPI_INT, next, 5, comm, &requests[0]);
  CALL(MPI_Probe, previous, 5, comm, MPI_STATUS_IGNORE);
  CALL(MPI_Iprobe, previous, 5, comm, &done, MPI_STATUS_IGNORE);
  CALL(MPI_Recv, b, 64, MPI_INT, previous, 5, comm, MPI_STATUS_IGNORE);
  CALL(MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
}

static void collectives(MPI_Comm comm) {
  MPI_Request request;
  for (int i = 0; i < size; ++i) counts[i] = 1, places[i] = i;
  CALL(MPI_Barrier, comm);
  for (int i = 0; i < 2; ++i) CALL(MPI_Bcast, a, 16, MPI_INT, 0, comm);
  CALL(MPI_Gather, a, 1, MPI_INT, b, 1, MPI_INT, 0, comm);
  CALL(MPI_Gatherv, a, 1, MPI_INT, b, counts, places, MPI_INT, 0, comm);
  CALL(MPI_Scatter, a, 1, MPI_INT, b, 1, MPI_INT, 0, comm);
  CALL(MPI_Scatterv, a, counts, places, MPI_INT, b, 1, MPI_INT, 0, comm);
  CALL(MPI_Allgather, a, 1, MPI_INT, b, 1, MPI_INT, comm);
  CALL(MPI_Allgatherv, a, 1, MPI_INT, b, counts, places, MPI_INT, comm);
  for (int i = 0; i < 6; ++i) CALL(MPI_Alltoall, a, 1, MPI_INT, b, 1, MPI_INT, comm);
  CALL(MPI_Alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, comm);
  for (int i = 0; i < 4; ++i) CALL(MPI_Alltoallv, a, counts, places, MPI_INT, b, counts, places, MPI_INT, comm);
  for (int i = 0; i < size; ++i) types[i] = MPI_INT, places[i] = i * (int)sizeof(int);
  for (int i = 0; i < 2; ++i) CALL(MPI_Alltoallw, a, counts, places, types, b, counts, places, types, comm);
  CALL(MPI_Reduce, a, b, 3, MPI_INT, MPI_SUM, 0, comm);
  for (int i = 0; i < 7; ++i) CALL(MPI_Allreduce, a, b, 3, MPI_INT, MPI_SUM, comm);
  CALL(MPI_Reduce_scatter_block, a, b, 1, MPI_INT, MPI_SUM, comm);
  CALL(MPI_Reduce_scatter, a, b, counts, MPI_INT, MPI_SUM, comm);
  CALL(MPI_Scan, a, b, 1, MPI_INT, MPI_SUM, comm);
  CALL(MPI_Exscan, a, b, 1, MPI_INT, MPI_SUM, comm);
  CALL(MPI_Ibarrier, comm, &request);
  CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
  CALL(MPI_Ialltoall, a, 1, MPI_INT, b, 1, MPI_INT, comm, &request);
  CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
}

static void neighbors(void) {
  MPI_Comm ring;
  int periodic = 1;
  CALL(MPI_Cart_create, MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  CALL(MPI_Neighbor_alltoall, a, 2, MPI_INT, b, 2, MPI_INT, ring);
  CALL(MPI_Neighbor_allgather, a, 2, MPI_INT, b, 2, MPI_INT, ring);
  CALL(MPI_Comm_free, &ring);
}

static void one_sided(void) {
  MPI_Win win;
  CALL(MPI_Win_create, b, sizeof b, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  CALL(MPI_Win_fence, 0, win);
  for (int i = 0; i < 3; ++i) CALL(MPI_Put, a, 2, MPI_INT, next, 0, 2, MPI_INT, win);
  CALL(MPI_Win_fence, 0, win);
  CALL(MPI_Win_lock, MPI_LOCK_SHARED, next, 0, win);
  CALL(MPI_Get, a, 1, MPI_INT, next, 0, 1, MPI_INT, win);
  CALL(MPI_Win_unlock, next, win);
  CALL(MPI_Win_free, &win);
}

/* Inside, the library calls collectives of its own, some by their public names. */
static void inner_collectives(const char* folder) {
  char path[4096];
  MPI_File file;
  MPI_Comm half;
  snprintf(path, sizeof path, "%s/data", folder);
  CALL(MPI_Comm_split, MPI_COMM_WORLD, rank % 2, 0, &half);
  CALL(MPI_Comm_disconnect, &half);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof a, a, 64, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

static void write_expected(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/expected-%d", folder, rank);
  FILE* file = fopen(path, "w");
  for (int i = 0; expected[i].name != NULL; ++i) fprintf(file, "%s %d\n", expected[i].name, expected[i].count);
  fclose(file);
}

int main(int argc, char** argv) {
  MPI_Comm copy;
  CALL(MPI_Init, &argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  CALL(MPI_Comm_dup, MPI_COMM_WORLD, &copy);
  CALL(MPI_Comm_set_name, copy, "the copy");
  point_to_point(MPI_COMM_WORLD);
  point_to_point(copy);
  collectives(MPI_COMM_WORLD);
  collectives(copy);
  neighbors();
  one_sided();
  inner_collectives(argv[1]);
  CALL(MPI_Comm_free, &copy);
  note("MPI_Finalize");
  write_expected(argv[1]);
  MPI_Finalize();
  return 0;
}
