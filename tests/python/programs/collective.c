/* collective CALLS NAME:BYTES...: nothing but calls of collectives, one kind after the other ("all": of each kind), so
 * that what a rank sends tells the algorithm. BYTES, a multiple of 4: of a block, or of the whole buffer where there
 * are no blocks.
 *
 * Tells a preloaded counter by MPI_Pcontrol: 1 before the first, and 2 with its NAME:BYTES after each. Rank 0 names
 * those that failed; exits with 1 if one did. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, bytes;
static int *counts, *offsets, *float_counts;
static MPI_Datatype* types;
static char *in, *out;

static int alltoall(void) { return MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static int alltoallv(void) {
  return MPI_Alltoallv(in, counts, offsets, MPI_BYTE, out, counts, offsets, MPI_BYTE, MPI_COMM_WORLD);
}
static int alltoallw(void) {
  return MPI_Alltoallw(in, counts, offsets, types, out, counts, offsets, types, MPI_COMM_WORLD);
}
static int allgather(void) { return MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static int allgatherv(void) {
  return MPI_Allgatherv(in, bytes, MPI_BYTE, out, counts, offsets, MPI_BYTE, MPI_COMM_WORLD);
}
static int bcast(void) { return MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static int gather(void) { return MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static int scatter(void) { return MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static int reduce(void) { return MPI_Reduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD); }
static int allreduce(void) { return MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }
static int reduce_scatter(void) {
  return MPI_Reduce_scatter(in, out, float_counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static int reduce_scatter_block(void) {
  return MPI_Reduce_scatter_block(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static int barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }

static const struct {
  const char* name;
  int (*call)(void);
} collectives[] = {{"alltoall", alltoall},
                   {"alltoallv", alltoallv},
                   {"alltoallw", alltoallw},
                   {"allgather", allgather},
                   {"allgatherv", allgatherv},
                   {"bcast", bcast},
                   {"gather", gather},
                   {"scatter", scatter},
                   {"reduce", reduce},
                   {"allreduce", allreduce},
                   {"reduce_scatter", reduce_scatter},
                   {"reduce_scatter_block", reduce_scatter_block},
                   {"barrier", barrier}};
enum { KINDS = sizeof collectives / sizeof *collectives };

static void prepare(void) {
  in = calloc((size_t)size, (size_t)bytes + 4);
  out = calloc((size_t)size, (size_t)bytes + 4);
  counts = malloc((size_t)size * sizeof(int));
  offsets = malloc((size_t)size * sizeof(int));
  float_counts = malloc((size_t)size * sizeof(int));
  types = malloc((size_t)size * sizeof(MPI_Datatype));
  for (int i = 0; i < size; ++i) {
    counts[i] = bytes;
    offsets[i] = i * bytes;
    float_counts[i] = bytes / 4;
    types[i] = MPI_BYTE;
  }
}

static void release(void) {
  free(in);
  free(out);
  free(counts);
  free(offsets);
  free(float_counts);
  free(types);
}

/* Connecting costs bytes, too. */
static void connect_all(void) {
  int token = 0, other;
  for (int peer = 0; peer < size; ++peer)
    if (peer != rank)
      MPI_Sendrecv(&token, 1, MPI_INT, peer, 0, &other, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int perform(const char* name, int calls) {
  int failed = 0;
  for (int k = 0; k < KINDS; ++k) {
    if (strcmp("all", name) != 0 && strcmp(collectives[k].name, name) != 0) continue;
    int code = MPI_SUCCESS;
    for (int i = 0; i < calls && code == MPI_SUCCESS; ++i) code = collectives[k].call();
    if (code == MPI_SUCCESS) continue;
    failed = 1;
    if (rank == 0) printf("%s failed\n", collectives[k].name);
  }
  return failed;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  connect_all();
  MPI_Pcontrol(1);
  int failed = 0;
  for (int k = 2; k < argc; ++k) {
    char name[64];
    if (sscanf(argv[k], "%63[a-z_]:%d", name, &bytes) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    prepare();
    failed |= perform(name, atoi(argv[1]));
    MPI_Barrier(MPI_COMM_WORLD); /* all that was sent has arrived */
    MPI_Pcontrol(2, argv[k]);
    release();
  }
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return failed;
}
