/* Every collective on segments, over sizes, roots, types and operations; all results go to the file whose folder is the
 * argument, one for each rank. The values of floating-point numbers are whole, so that sums are exact in any order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 15, longest = 3000 };

static FILE* results;
static int rank, size;

static double value(int round, int i) { return (rank + 3) * (i % 50 + 1) + round; }

static void keep(const void* data, size_t bytes) {
  if (fwrite(data, 1, bytes, results) != bytes) MPI_Abort(MPI_COMM_WORLD, 3);
}

/* x -> a x + b, one after the other: associative, and does not commute. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  const unsigned long* first = in;
  unsigned long* second = inout;
  (void)type;
  for (int i = 0; i < 2 * *count; i += 2) {
    second[i + 1] += first[i + 1] * second[i];
    second[i] *= first[i];
  }
}

static void move(double* all, double* block, int count, int round) {
  const int root = round % size;
  const size_t bytes = (size_t)count * sizeof *block;
  for (int i = 0; i < count; ++i) block[i] = value(round, i);
  MPI_Allgather(block, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
  keep(all, (size_t)size * bytes);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
  keep(all, (size_t)size * bytes);
  MPI_Bcast(block, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
  keep(block, bytes);
  for (int i = 0; i < count; ++i) block[i] += rank;
  MPI_Gather(block, count, MPI_DOUBLE, all, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
  if (rank == root) keep(all, (size_t)size * bytes);
  MPI_Scatter(all, count, MPI_DOUBLE, block, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
  keep(block, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The root's data is strided, that of the others is not. */
static void move_strided(int* numbers, int count, int round) {
  const int root = round % size;
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int i = 0; i < 2 * count; ++i) numbers[i] = (int)value(round, i);
  if (rank == root) MPI_Bcast(numbers, 1, every_other, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(numbers, count, MPI_INT, root, MPI_COMM_WORLD);
  keep(numbers, 2 * (size_t)count * sizeof *numbers);
  MPI_Type_free(&every_other);
}

static void reduce(double* all, double* result, int count, int round) {
  const int root = round % size;
  for (int i = 0; i < size * count; ++i) all[i] = value(round, i);
  MPI_Allreduce(all, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  keep(result, (size_t)count * sizeof *result);
  MPI_Reduce(all, result, count, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
  if (rank == root) keep(result, (size_t)count * sizeof *result);
  MPI_Reduce_scatter_block(all, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  keep(result, (size_t)count * sizeof *result);
  MPI_Allreduce(MPI_IN_PLACE, all, count, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  keep(all, (size_t)count * sizeof *all);
}

static void reduce_in_order(int round) {
  enum { pairs = 7 };
  unsigned long lines[2 * pairs], results_of_all[2 * pairs];
  MPI_Datatype line = MPI_DATATYPE_NULL;
  MPI_Op composing = MPI_OP_NULL;
  MPI_Type_contiguous(2, MPI_UNSIGNED_LONG, &line);
  MPI_Type_commit(&line);
  MPI_Op_create(compose, 0, &composing);
  for (int i = 0; i < 2 * pairs; ++i) lines[i] = (unsigned long)value(round, i);
  MPI_Allreduce(lines, results_of_all, pairs, line, composing, MPI_COMM_WORLD);
  keep(results_of_all, sizeof results_of_all);
  MPI_Reduce(lines, results_of_all, pairs, line, composing, round % size, MPI_COMM_WORLD);
  keep(results_of_all, sizeof results_of_all);
  MPI_Op_free(&composing);
  MPI_Type_free(&line);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", argv[1], rank);
  results = fopen(path, "wb");
  double* all = malloc((size_t)size * longest * sizeof *all);
  double* block = malloc(longest * sizeof *block);
  if (results == NULL || all == NULL || block == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  const int counts[] = {1, 13, longest};
  for (int round = 0; round < rounds; ++round) {
    const int count = counts[round % 3];
    move(all, block, count, round);
    move_strided((int*)all, count, round);
    reduce(all, block, count, round);
    reduce_in_order(round);
  }
  free(block);
  free(all);
  const int code = fclose(results) != 0;
  MPI_Finalize();
  return code;
}
