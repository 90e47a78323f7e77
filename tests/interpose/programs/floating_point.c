/* A program with a floating-point environment of its own: traps, upward rounding, denormals flushed to zero.
 *
 * Arguments: how often each call is made; "mixed": not all ranks have that environment, one rounds downwards and one
 * flushes only. A trap kills it. Each rank prints the flags that the calls have raised; a flag
 * cannot be lowered by them. The reductions round as the program asks: 1 + 2^-60 is more than 1. All ranks say whether
 * the environment is as it was. */
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

enum { TRAPS_MASK = 0x1f80, DIVZERO_INVALID_OVERFLOW = 0x680, FLUSH = 0x8000, ZEROS = 0x40, FLAGS = 0x3f };
enum { DOWN = 0x2000, UP = 0x4000 };

/* The environment of a rank, which the launcher tells before MPI does. */
static unsigned environment(int is_mixed) {
  const unsigned all = (TRAPS_MASK & ~DIVZERO_INVALID_OVERFLOW) | UP | FLUSH | ZEROS;
  const unsigned mixed[] = {all, TRAPS_MASK | DOWN, TRAPS_MASK, TRAPS_MASK | FLUSH | ZEROS};
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  return is_mixed && rank != NULL ? mixed[atoi(rank) % 4] : all;
}

static MPI_Comm ring_of(int rank, int size) {
  const int peers[2] = {(rank + size - 1) % size, (rank + 1) % size};
  const int n = size > 2 ? 2 : 1;
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, peers, MPI_UNWEIGHTED, n, peers, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  return ring;
}

static int reduces_upwards(int size) {
  const double mine = 1, tiny = 0x1p-60;
  double sum = 0, most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(rank == 0 ? &mine : &tiny, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return most == 1 && (size == 1 ? sum == 1 : sum > 1);
}

int main(int argc, char** argv) {
  const int is_mixed = argc > 2 && strcmp(argv[2], "mixed") == 0;
  const unsigned mine = environment(is_mixed);
  _mm_setcsr(mine);
  MPI_Init(&argc, &argv);
  _mm_setcsr(mine);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = argc > 1 ? atoi(argv[1]) : 300, most = 512;
  int* out = calloc((size_t)most * size, sizeof *out);
  int* in = calloc((size_t)most * size, sizeof *in);
  int* counts = malloc(2 * (size_t)size * sizeof *counts);
  int* places = counts + size;
  for (int i = 0; i < size; ++i) {
    counts[i] = 1 + (i + rank) % 3;
    places[i] = 3 * i;
  }
  MPI_Comm ring = ring_of(rank, size);
  MPI_Win win;
  MPI_Win_create(out, (MPI_Aint)sizeof *out * most * size, sizeof *out, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  int upwards = 1;
  for (int i = 0; i < calls; ++i) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int n = i % 50 == 0 ? most : 8;
    MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(out, n, MPI_INT, i % size, comm);
    MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm);
    MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm);
    MPI_Reduce(out, in, n, MPI_INT, MPI_MAX, 0, comm);
    MPI_Barrier(comm);
    int from[64];
    for (int j = 0; j < size && j < 64; ++j) from[j] = 1 + (j + rank) % 3;
    MPI_Alltoallv(out, counts, places, MPI_INT, in, from, places, MPI_INT, comm);
    MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, ring);
    MPI_Request request;
    MPI_Iallreduce(out, in, n, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_lock_all(0, win);
    for (int j = 0; j < 8; ++j)
      MPI_Get(in, n, MPI_INT, (rank + j) % size, (i * 8 + j) % (most - n + 1), n, MPI_INT, win);
    MPI_Win_unlock_all(win);
    upwards &= reduces_upwards(size);
    /* What the reduction of the program's own data has raised is the program's. */
    _mm_setcsr(_mm_getcsr() & ~0x20u);
  }
  const unsigned now = _mm_getcsr();
  printf("rank %d: flags %u, %s, %s\n", rank, now & FLAGS,
         (now & ~FLAGS) == (mine & ~FLAGS) ? "as it was" : "changed",
         is_mixed  ? "rounds as it asks"
         : upwards ? "rounds upwards"
                   : "rounds otherwise");
  MPI_Win_free(&win);
  MPI_Comm_free(&ring);
  MPI_Finalize();
  if ((_mm_getcsr() & ~FLAGS) != (mine & ~FLAGS)) return 3;
  free(out);
  free(in);
  free(counts);
  return 0;
}
