/* Neighborhood collectives on a distributed graph and on a grid; all that arrives goes to the file whose folder is the
 * argument, one for each rank. In the graph every rank sends to everybody, itself included, and twice to the next
 * one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 6, longest = 2000, nothing = -1 };

static FILE* results;
static int rank, size;

static int* fresh(int count) {
  int* numbers = malloc(((size_t)count + 1) * sizeof *numbers);
  if (numbers == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < count; ++i) numbers[i] = nothing;
  return numbers;
}

static void keep(const int* data, int count) {
  if (fwrite(data, sizeof *data, (size_t)count, results) != (size_t)count) MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Block i of `from` carries so many numbers to `to` in a round of uneven blocks; both ends compute it. */
static int uneven(int from, int to, int round) {
  return (from * 5 + to * 3 + round) % 4 == 0 ? 0 : (from + 2 * to) % 7;
}

static void equal_blocks(MPI_Comm comm, int in, int out, int count, int round) {
  int *from = fresh(out * count), *to = fresh(in * count);
  for (int i = 0; i < out * count; ++i) from[i] = 1000000 * (rank + 1) + 10000 * round + i;
  MPI_Neighbor_alltoall(from, count, MPI_INT, to, count, MPI_INT, comm);
  keep(to, in * count);
  free(from);
  free(to);
}

/* Blocks of every other int, with ints between them that nobody may touch. */
static void uneven_blocks(MPI_Comm comm, const int* sources, int in, const int* targets, int out, int round) {
  int *counts = fresh(2 * (in + out)), *places = counts + in + out, sent = 0, received = 0;
  for (int i = 0; i < out; ++i)
    counts[i] = uneven(rank, targets[i], round), places[i] = sent, sent += counts[i] + 1;
  for (int i = 0; i < in; ++i) {
    counts[out + i] = uneven(sources[i], rank, round);
    places[out + i] = received;
    received += counts[out + i] + 1;
  }
  MPI_Datatype pair = MPI_DATATYPE_NULL, gapped = MPI_DATATYPE_NULL;
  MPI_Type_vector(1, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 2 * sizeof(int), &gapped);
  MPI_Type_commit(&gapped);
  int *from = fresh(2 * sent), *to = fresh(2 * received);
  for (int i = 0; i < 2 * sent; ++i) from[i] = 1000000 * (rank + 1) + 10000 * round + i;
  MPI_Neighbor_alltoallv(from, counts, places, gapped, to, counts + out, places + out, gapped, comm);
  keep(to, 2 * received);
  MPI_Type_free(&pair);
  MPI_Type_free(&gapped);
  free(counts);
  free(from);
  free(to);
}

/* The same, where each block has a type of its own: ints, or pairs of them. */
static void typed_blocks(MPI_Comm comm, const int* sources, int in, const int* targets, int out, int round) {
  int* counts = fresh(in + out);
  MPI_Aint* places = malloc(((size_t)(in + out) + 1) * sizeof *places);
  MPI_Datatype* types = malloc(((size_t)(in + out) + 1) * sizeof *types);
  MPI_Aint ends[2] = {0, 0};
  for (int i = 0; i < in + out; ++i) {
    const int is_in = i >= out;
    counts[i] = is_in ? uneven(sources[i - out], rank, round) : uneven(rank, targets[i], round);
    types[i] = MPI_INT;
    if (counts[i] % 2 == 0) types[i] = MPI_2INT, counts[i] /= 2;
    places[i] = ends[is_in] * (MPI_Aint)sizeof(int);
    ends[is_in] += 2 * counts[i] + 1;
  }
  int *from = fresh((int)ends[0]), *to = fresh((int)ends[1]);
  for (int i = 0; i < ends[0]; ++i) from[i] = 1000000 * (rank + 1) + 10000 * round + i;
  MPI_Neighbor_alltoallw(from, counts, places, types, to, counts + out, places + out, types + out, comm);
  keep(to, (int)ends[1]);
  free(counts);
  free(places);
  free(types);
  free(from);
  free(to);
}

/* One block for all neighbors, of as many ints as the round, and as the sender's rank. */
static void gathered_blocks(MPI_Comm comm, const int* sources, int in, int round) {
  int *counts = fresh(2 * in), *places = counts + in, received = 0;
  for (int i = 0; i < in; ++i) {
    counts[i] = sources[i];
    places[i] = received;
    received += counts[i] + 1;
  }
  const int most = size > round ? size : round;
  int *from = fresh(most), *to = fresh(received + in * round);
  for (int i = 0; i < most; ++i) from[i] = 1000000 * (rank + 1) + 10000 * round + i;
  MPI_Neighbor_allgather(from, round, MPI_INT, to, round, MPI_INT, comm);
  keep(to, in * round);
  MPI_Neighbor_allgatherv(from, rank, MPI_INT, to, counts, places, MPI_INT, comm);
  keep(to, received);
  free(counts);
  free(from);
  free(to);
}

static void on_graph(void) {
  int *targets = fresh(size + 1), *sources = fresh(size + 1);
  for (int i = 0; i < size; ++i) targets[i] = (rank + i) % size, sources[i] = (rank + size - i) % size;
  targets[size] = (rank + 1) % size;
  sources[size] = (rank + size - 1) % size;
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size + 1, sources, MPI_UNWEIGHTED, size + 1, targets,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  /* One all-to-all, or sixteen other collectives, enable a communicator. */
  int *ones = fresh(size), *others = fresh(size);
  MPI_Alltoall(ones, 1, MPI_INT, others, 1, MPI_INT, graph);
  for (int round = 0; round < rounds; ++round) {
    equal_blocks(graph, size + 1, size + 1, round == rounds - 1 ? longest : round, round);
    uneven_blocks(graph, sources, size + 1, targets, size + 1, round);
    typed_blocks(graph, sources, size + 1, targets, size + 1, round);
    gathered_blocks(graph, sources, size + 1, round);
  }
  free(ones);
  free(others);
  free(targets);
  free(sources);
  MPI_Comm_free(&graph);
}

/* Around a ring in one dimension, with borders in the other. */
static void on_grid(void) {
  int extents[2] = {0, 0}, periods[2] = {1, 0};
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Dims_create(size, 2, extents);
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
  for (int round = 0; round < 20; ++round) equal_blocks(grid, 4, 4, 3, round);
  MPI_Comm_free(&grid);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char name[4096];
  snprintf(name, sizeof name, "%s/rank-%d", argc > 1 ? argv[1] : ".", rank);
  results = fopen(name, "wb");
  if (results == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  on_graph();
  on_grid();
  fclose(results);
  MPI_Finalize();
  return 0;
}
