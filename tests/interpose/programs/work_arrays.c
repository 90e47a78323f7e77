/* Work arrays that are allocated, filled, sent from and freed in each step, as many codes do.

   work_arrays [STEPS [ARRAYS [KIB [barrier | lock | lock-later]]]]   prints a line of each rank

   lock: all memory is locked, from the start or after half of the steps. Compiled with -DSETS_OPTIONS, it calls
   mallopt.

   faults: page faults of all steps; later: of their second half; peak: KiB of memory. */
#include <mpi.h>
#ifdef SETS_OPTIONS
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Called by address: what a program that is not position-independent then calls is an entry of its own. */
static void* (*volatile allocate)(size_t) = malloc;
static void (*volatile release)(void*) = free;

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static void lock(void) {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) perror("mlockall"), exit(4);
}

static double step(int rank, int size, int arrays, size_t doubles) {
  double *work[64], sum = 0;
  for (int i = 0; i < arrays; ++i) {
    work[i] = allocate(doubles * sizeof(double));
    if (work[i] == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    for (size_t k = 0; k < doubles; k += 8) work[i][k] = rank + i + (double)k;
  }
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Sendrecv(work[0], 1000, MPI_DOUBLE, next, 0, work[1], 1000, MPI_DOUBLE, before, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&work[1][8], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < arrays; ++i) release(work[i]);
  return sum;
}

int main(int argc, char** argv) {
  const char* const more = argc > 4 ? argv[4] : "";
  int rank, size;
  if (strcmp(more, "lock") == 0) lock();
#ifdef SETS_OPTIONS
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 400, arrays = argc > 2 ? atoi(argv[2]) : 6;
  const size_t doubles = (argc > 3 ? atoi(argv[3]) : 512) * 128;
  if (strcmp(more, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
  const long first = faults();
  long half = 0;
  double sum = 0;
  const double start = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    if (i == steps / 2) half = faults();
    if (i == steps / 2 && strcmp(more, "lock-later") == 0) lock();
    sum += step(rank, size, arrays, doubles);
  }
  const long last = faults();
  const double seconds = MPI_Wtime() - start;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("rank %d faults %ld later %ld peak %ld sum %.6g seconds %.4f\n", rank, last - first, last - half,
         usage.ru_maxrss, sum, seconds);
  MPI_Finalize();
  return 0;
}
