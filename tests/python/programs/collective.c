/* collective NAME BYTES CALLS: nothing but calls of one collective, so that what a rank sends tells the algorithm; "all": of one after
 * the other. BYTES, a multiple of 4: of a block, or of the whole buffer where there are no blocks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int size, bytes;
static int *counts, *offsets, *float_counts;
static MPI_Datatype* types;
static char *in, *out;

static void alltoall(void) { MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void alltoallv(void) {
  MPI_Alltoallv(in, counts, offsets, MPI_BYTE, out, counts, offsets, MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoallw(void) {
  MPI_Alltoallw(in, counts, offsets, types, out, counts, offsets, types, MPI_COMM_WORLD);
}
static void allgather(void) { MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void allgatherv(void) {
  MPI_Allgatherv(in, bytes, MPI_BYTE, out, counts, offsets, MPI_BYTE, MPI_COMM_WORLD);
}
static void bcast(void) { MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void gather(void) { MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }
static void reduce_scatter(void) {
  MPI_Reduce_scatter(in, out, float_counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter_block(void) {
  MPI_Reduce_scatter_block(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static const struct {
  const char* name;
  void (*call)(void);
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

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bytes = atoi(argv[2]);
  prepare();
  for (size_t k = 0; k < sizeof collectives / sizeof *collectives; ++k)
    if (strcmp("all", argv[1]) == 0 || strcmp(collectives[k].name, argv[1]) == 0)
      for (int i = 0; i < atoi(argv[3]); ++i) collectives[k].call();
  MPI_Finalize();
  return 0;
}
