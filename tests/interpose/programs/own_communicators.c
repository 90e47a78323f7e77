/* MPI_THREAD_MULTIPLE: threads with collectives on communicators of their own. Every result is checked.
 *   mpiexec -n 3 ./own_communicators 20 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, COUNT = 16, MOST_RANKS = 16 };

struct Work {
  MPI_Comm comm;
  int thread, rank, size, repeats, wrong;
};

static void* work(void* argument) {
  struct Work* w = argument;
  int out[COUNT * MOST_RANKS], in[COUNT * MOST_RANKS];
  for (int i = 0; i < w->repeats; ++i) {
    for (int j = 0; j < COUNT * w->size; ++j) out[j] = w->thread * 10000 + w->rank * 1000 + j + i;
    MPI_Alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, w->comm);
    for (int r = 0; r < w->size; ++r)
      for (int j = 0; j < COUNT; ++j)
        w->wrong += in[r * COUNT + j] != w->thread * 10000 + r * 1000 + w->rank * COUNT + j + i;
    for (int j = 0; j < COUNT; ++j) out[j] = w->rank + j;
    MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_SUM, w->comm);
    for (int j = 0; j < COUNT; ++j) w->wrong += in[j] != w->size * (w->size - 1) / 2 + w->size * j;
    in[0] = w->rank == i % w->size ? i : -1;
    MPI_Bcast(in, COUNT, MPI_INT, i % w->size, w->comm);
    w->wrong += in[0] != i;
    MPI_Barrier(w->comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, wrong = 0, all = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  struct Work works[THREADS];
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    works[t] = (struct Work){.thread = t, .repeats = argc > 1 ? atoi(argv[1]) : 20};
    MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comm);
    MPI_Comm_rank(MPI_COMM_WORLD, &works[t].rank);
    MPI_Comm_size(MPI_COMM_WORLD, &works[t].size);
    if (works[t].size > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, work, &works[t]);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < THREADS; ++t) wrong += works[t].wrong, MPI_Comm_free(&works[t].comm);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (works[0].rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return wrong != 0;
}
