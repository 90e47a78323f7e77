/* Short collectives, again and again, from several places and on several communicators, as calls that are given back to
 * the library are made. Rank r writes to <folder>/expected-<r> how often each function was called, what it sent, and to
 * how many others at once: what the record must say, whichever calls were timed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { allreduce, barrier, bcast, reduce, alltoall, allgather, send_, functions };
static const char* const names[functions] = {"MPI_Allreduce", "MPI_Barrier",  "MPI_Bcast", "MPI_Reduce",
                                             "MPI_Alltoall",  "MPI_Allgather", "MPI_Send"};
static long calls[functions], bytes[functions], sent_to_next;
static int rank, size, failures;

static void note(int function, long sent) {
  ++calls[function];
  bytes[function] += sent;
}

/* The results are looked at: whatever passes to the library must be the program's call. */
static void sum(MPI_Comm comm, int count) {
  int mine[8], all[8];
  for (int i = 0; i < 8; ++i) mine[i] = rank + i;
  MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, comm);
  note(allreduce, 4L * count);
  for (int i = 0; i < count; ++i) failures += all[i] != size * (size - 1) / 2 + i * size;
}

static void biggest(MPI_Comm comm) {
  float mine = (float)rank, most = -1;
  MPI_Allreduce(&mine, &most, 1, MPI_FLOAT, MPI_MAX, comm);
  note(allreduce, 4);
  failures += most != (float)(size - 1);
}

static void others(MPI_Comm comm, int root) {
  int one = rank == root ? 77 : 0, all = 0, out[16], in[16];
  MPI_Bcast(&one, 1, MPI_INT, root, comm);
  note(bcast, 4);
  failures += one != 77;
  MPI_Reduce(&rank, &all, 1, MPI_INT, MPI_SUM, root, comm);
  note(reduce, 4);
  failures += rank == root && all != size * (size - 1) / 2;
  if (root == (rank + 1) % size) ++sent_to_next;
  for (int i = 0; i < size; ++i) out[i] = 100 * rank + i;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  note(alltoall, 4L * size);
  for (int i = 0; i < size; ++i) failures += in[i] != 100 * i + rank;
  MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, comm);
  note(allgather, 4);
  for (int i = 0; i < size; ++i) failures += in[i] != i;
  MPI_Barrier(comm);
  note(barrier, 0);
  sent_to_next += (rank == root) + 2; /* Bcast, Alltoall, Allgather */
}

static void turn(MPI_Comm comm, int n) {
  for (int i = 0; i < n; ++i) {
    sum(comm, 1);
    if (i % 3 == 0) sum(MPI_COMM_WORLD, 2);
    if (i % 50 == 0) biggest(comm);
    if (i % 70 == 0) MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, 0, comm), note(send_, 4);
  }
  for (int i = 0; i < n; ++i) others(comm, i / 40 % size);
}

int main(int argc, char** argv) {
  char path[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    turn(comm, 400);
    MPI_Comm_free(&comm);
  }
  turn(MPI_COMM_WORLD, 500);
  snprintf(path, sizeof path, "%s/expected-%d", argv[1], rank);
  FILE* file = fopen(path, "w");
  for (int f = 0; f < functions; ++f) fprintf(file, "%s %ld %ld\n", names[f], calls[f], bytes[f]);
  fprintf(file, "next %ld 0\n", sent_to_next);
  fclose(file);
  MPI_Finalize();
  if (failures != 0) fprintf(stderr, "rank %d: %d wrong results\n", rank, failures);
  return failures != 0;
}
