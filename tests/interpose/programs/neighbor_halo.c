// Halos of a plane of cells by MPI_Ineighbor_alltoallw on any number of ranks: rows and columns are subarrays, a rank
// has those beside it in a torus of one or two rows, and several planes are under way at once, completed one by one,
// all together, or by asking. Then graphs in which each rank has as many neighbors as its number says. Checks each cell,
// those that nothing comes for as well. Argument: rounds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { edge = 300, width = edge + 2, planes = 3, most_neighbors = 8 };

static int rank, size;

static void fail(const char* what, int round) {
  fprintf(stderr, "rank %d, round %d: %s\n", rank, round, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// One of a rank's cells, 0 <= row, column < edge.
static double cell(int of_rank, int row, int column, int plane, int round) {
  return of_rank * 1e6 + row * 1e3 + column + 0.1 * plane + 0.001 * (round % 100);
}

static const double outside = -1;

static MPI_Datatype part(int row, int column, int rows, int columns) {
  const int whole[] = {width, width}, extent[] = {rows, columns}, begin[] = {row, column};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, whole, extent, begin, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

/// What goes left comes from the right. No rank is named twice: libraries do not agree on the order of its blocks.
struct Halo {
  MPI_Comm graph;
  int neighbors, from[4], to[4], counts[4];
  MPI_Aint at[4];
  MPI_Datatype sent[4], received[4];
  int right_of, left_of, below, above;  // the ranks whose cells are beyond that side; none: -1
};

static int add(struct Halo* h, int to, int from, MPI_Datatype sent, MPI_Datatype received) {
  const int i = h->neighbors++;
  h->to[i] = to, h->from[i] = from, h->sent[i] = sent, h->received[i] = received;
  h->counts[i] = 1, h->at[i] = 0;
  return from;
}

static void make_halo(struct Halo* h, int rows) {
  const int columns = size / rows, row = rank / columns, column = rank % columns;
  const int left = row * columns + (column + columns - 1) % columns,
            right = row * columns + (column + 1) % columns;
  const int up = (row + rows - 1) % rows * columns + column, down = (row + 1) % rows * columns + column;
  h->neighbors = 0, h->right_of = h->below = h->above = -1;
  h->left_of = add(h, right, left, part(1, edge, edge, 1), part(1, 0, edge, 1));
  if (columns > 2) h->right_of = add(h, left, right, part(1, 1, edge, 1), part(1, edge + 1, edge, 1));
  if (rows > 1) h->below = add(h, up, down, part(1, 1, 1, edge), part(edge + 1, 1, 1, edge));
  if (rows > 2) h->above = add(h, down, up, part(edge, 1, 1, edge), part(0, 1, 1, edge));
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, h->neighbors, h->from, MPI_UNWEIGHTED, h->neighbors, h->to,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &h->graph);
}

static void free_halo(struct Halo* h) {
  for (int i = 0; i < h->neighbors; ++i) MPI_Type_free(&h->sent[i]), MPI_Type_free(&h->received[i]);
  MPI_Comm_free(&h->graph);
}

static void fill(double* memory, int plane, int round) {
  for (int i = 0; i < width * width; ++i) memory[i] = outside;
  for (int r = 0; r < edge; ++r)
    for (int c = 0; c < edge; ++c) memory[(r + 1) * width + c + 1] = cell(rank, r, c, plane, round);
}

static double of(int of_rank, int r, int c, int plane, int round) {
  return of_rank < 0 ? outside : cell(of_rank, r, c, plane, round);
}

/// What the border, or a cell inside, must be.
static double due(const struct Halo* h, int r, int c, int plane, int round) {
  const int in_row = r >= 1 && r <= edge, in_column = c >= 1 && c <= edge;
  if (in_row && in_column) return cell(rank, r - 1, c - 1, plane, round);
  if (in_row)
    return c > edge ? of(h->right_of, r - 1, 0, plane, round) : of(h->left_of, r - 1, edge - 1, plane, round);
  if (in_column)
    return r > edge ? of(h->below, 0, c - 1, plane, round) : of(h->above, edge - 1, c - 1, plane, round);
  return outside;
}

static void check(const struct Halo* h, const double* memory, int plane, int round) {
  for (int r = 0; r < width; ++r)
    for (int c = 0; c < width; ++c)
      if (memory[r * width + c] != due(h, r, c, plane, round)) fail("a cell of a halo is wrong", round);
}

static void complete(MPI_Request* requests, int way) {
  if (way == 0) MPI_Waitall(planes, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; way == 1 && i < planes; ++i) {
    int index;
    MPI_Waitany(planes, requests, &index, MPI_STATUS_IGNORE);
  }
  for (int i = planes - 1; way == 2 && i >= 0; --i)
    for (int done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
}

static void exchange_halos(int rows, int rounds) {
  struct Halo halo;
  make_halo(&halo, rows);
  double* memory[planes];
  for (int p = 0; p < planes; ++p) memory[p] = malloc(sizeof(double) * width * width);
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[planes];
    for (int p = 0; p < planes; ++p) fill(memory[p], p, round);
    for (int p = 0; p < planes; ++p)
      MPI_Ineighbor_alltoallw(memory[p], halo.counts, halo.at, halo.sent, memory[p], halo.counts, halo.at,
                              halo.received, halo.graph, &requests[p]);
    complete(requests, round % 3);
    for (int p = 0; p < planes; ++p) check(&halo, memory[p], p, round);
  }
  for (int p = 0; p < planes; ++p) free(memory[p]);
  free_halo(&halo);
}

// --- each rank sends a column to each of the next ranks, itself the first, as many as its number says

static int out_degree(int of_rank) { return of_rank < most_neighbors ? of_rank : most_neighbors; }

static void exchange_unevenly(int rounds) {
  int from[most_neighbors * 16] = {0}, to[most_neighbors] = {0}, ins = 0;
  const int outs = out_degree(rank);
  for (int i = 0; i < outs; ++i) to[i] = (rank + i) % size;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < out_degree(r); ++i)
      if ((r + i) % size == rank && ins < most_neighbors * 16) from[ins++] = r;
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, MPI_UNWEIGHTED, outs, to, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Datatype column;
  MPI_Type_vector(edge, 1, width, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  const long room = (long)edge * width;
  double *out = malloc(sizeof(double) * (size_t)(room + 1)),
         *in = malloc(sizeof(double) * (size_t)(room * (ins + 1)));
  int out_counts[most_neighbors], in_counts[most_neighbors * 16];
  MPI_Aint out_at[most_neighbors], in_at[most_neighbors * 16];
  MPI_Datatype out_types[most_neighbors], in_types[most_neighbors * 16];
  for (int i = 0; i < outs; ++i)
    out_counts[i] = 1, out_at[i] = i * (MPI_Aint)sizeof(double), out_types[i] = column;
  for (int i = 0; i < ins; ++i)
    in_counts[i] = 1, in_at[i] = i * room * (MPI_Aint)sizeof(double), in_types[i] = column;
  for (int round = 0; round < rounds; ++round) {
    for (long i = 0; i < room; ++i) out[i] = rank * 1e6 + (double)i + 0.001 * (round % 100);
    for (long i = 0; i < room * ins; ++i) in[i] = outside;
    MPI_Request request;
    MPI_Ineighbor_alltoallw(out, out_counts, out_at, out_types, in, in_counts, in_at, in_types, graph,
                            &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int n = 0; n < ins; ++n) {
      int which = 0;  // of the sender's columns: that of its message to this rank
      while ((from[n] + which) % size != rank) ++which;
      for (long i = 0; i < room; ++i) {
        const double wanted =
            i % width == 0 ? from[n] * 1e6 + (double)(i + which) + 0.001 * (round % 100) : outside;
        if (in[n * room + i] != wanted) fail("a column is wrong", round);
      }
    }
  }
  free(out), free(in);
  MPI_Type_free(&column);
  MPI_Comm_free(&graph);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange_halos(1, rounds);
  if (size % 2 == 0) exchange_halos(2, rounds);
  exchange_unevenly(rounds);
  MPI_Finalize();
  return 0;
}
