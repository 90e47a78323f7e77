/* Threads whose thread-local data are destroyed late: the destructors call MPI and malloc, one of them a second time,
 * when all other thread-local data of the thread are gone. Argument: how many generations of threads. Each rank
 * prints what the collectives in the destructors gave. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ELEMENTS = 1 << 17, ROUNDS = 2 };

struct Local {
  MPI_Comm comm;
  int* data;
  int rounds;
  int right;
};

static pthread_key_t key;
static int rank, size;

/* The sum of the ranks, by memory that lives for the call alone. */
static int sums(MPI_Comm comm, int n) {
  int* out = malloc((size_t)n * sizeof *out);
  int* in = malloc((size_t)n * sizeof *in);
  for (int i = 0; i < n; ++i) out[i] = rank + i;
  MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm);
  const int right = in[n - 1] == size * (size - 1) / 2 + size * (n - 1);
  free(out);
  free(in);
  return right;
}

/* Sets itself again, so that it is called once more after the destructors of others. */
static void end_of_thread(void* data) {
  struct Local* local = data;
  local->right += sums(local->comm, 4);
  local->right += sums(local->comm, ELEMENTS);
  local->data = realloc(local->data, 2 * ELEMENTS * sizeof(int));
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, local->data, 1, MPI_INT, (rank + size - 1) % size, 0,
               local->comm, MPI_STATUS_IGNORE);
  local->right += local->data[0] == (rank + size - 1) % size;
  if (--local->rounds > 0) pthread_setspecific(key, local);
  else free(local->data);
}

static void* thread(void* data) {
  struct Local* local = data;
  local->data = malloc(ELEMENTS * sizeof(int));
  local->rounds = ROUNDS;
  pthread_setspecific(key, local);
  return NULL;
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 3);
  const int generations = argc > 1 ? atoi(argv[1]) : 10;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_key_create(&key, end_of_thread);
  struct Local locals[THREADS] = {{.right = 0}};
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &locals[i].comm);
  for (int g = 0; g < generations; ++g) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, thread, &locals[i]);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  }
  int right = 0;
  for (int i = 0; i < THREADS; ++i) {
    right += locals[i].right;
    MPI_Comm_free(&locals[i].comm);
  }
  printf("rank %d: %d of %d right\n", rank, right, generations * THREADS * ROUNDS * 3);
  MPI_Finalize();
  return 0;
}
