/* A program that places memory itself: pages right behind its heap and at fixed addresses, with MAP_FIXED_NOREPLACE,
 * while collectives and work arrays come and go. Prints how many places it got, and whether what it wrote there is
 * still there. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PLACES = 48, BYTES = 1 << 20, MOST = 1 << 16 };

static unsigned char* taken[PLACES];

/* The first lies where the heap would grow next, the others 4 MiB apart; every third at an address that is the same in
 * all runs, far from all that the system places. */
static uintptr_t place_of(int i) {
  const uintptr_t behind_heap = ((uintptr_t)sbrk(0) + 4095) / 4096 * 4096;
  if (i % 3 == 2) return (uintptr_t)0x100000000000 + (uintptr_t)i * 0x10000000;
  return behind_heap + (i == 0 ? 0 : (uintptr_t)(64 + 4 * i) << 20);
}

static int take(int i) {
  void* const wanted = (void*)place_of(i);
  void* const got =
      mmap(wanted, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return 0;
  if (got != wanted) return munmap(got, BYTES), 0;
  taken[i] = got;
  memset(got, i + 1, BYTES);
  return 1;
}

static int is_intact(int i) {
  for (size_t k = 0; k < BYTES; k += 4096)
    if (taken[i][k] != i + 1) return 0;
  return 1;
}

/* Collectives of up to 256 KiB, and arrays that malloc must find room for where the heap cannot grow. */
static long work(int rank, int size) {
  long sum = 0;
  for (int n = 1; n <= MOST; n *= 16) {
    int* out = malloc((size_t)n * (size_t)size * sizeof *out);
    int* in = malloc((size_t)n * (size_t)size * sizeof *in);
    if (out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < n * size; ++i) out[i] = rank + i % 7;
    MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
    sum += in[n * size - 1];
    MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum += in[n - 1];
    free(out);
    free(in);
  }
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, placed = 0, intact = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long sum = 0;
  for (int i = 0; i < PLACES; ++i) {
    sum += work(rank, size);
    placed += take(i);
  }
  sum += work(rank, size);
  for (int i = 0; i < PLACES; ++i) intact += taken[i] != NULL && is_intact(i);
  printf("rank %d: %d places, %d intact, sum %ld\n", rank, placed, intact, sum);
  MPI_Finalize();
  return 0;
}
