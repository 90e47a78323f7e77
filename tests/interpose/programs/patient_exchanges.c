/* Exchanges in place, matched receives and exchanges with neighbors, in ordinary and odd cases, on any number of
 * ranks. Writes what each gave, a line a case, to FOLDER/rank-<n>.
 *   mpiexec -n 5 ./patient_exchanges FOLDER
 * WAITING_LEVEL=multiple: MPI_THREAD_MULTIPLE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocking_notes.h"

enum { LARGE = 1 << 18, MOST = 16 };

static void note_wrong(const int* values, int n, int first) {
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += values[i] != first + i;
  fprintf(out, "wrong %d\n", wrong);
}

static void in_place(void) {
  MPI_Status s;
  int values[6] = {rank, rank + 10, rank + 20, rank + 30, rank + 40, rank + 50};
  note("to the right", MPI_Sendrecv_replace(values, 6, MPI_INT, right(), 1, left(), 1, comm, &s));
  note_status(&s);
  note_ints(values, 6);
  note("from anybody",
       MPI_Sendrecv_replace(values, 2, MPI_INT, left(), 2, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s));
  note_status(&s);
  note_ints(values, 6);
  MPI_Barrier(comm);
  note("with oneself", MPI_Sendrecv_replace(values, 1, MPI_INT, rank, 3, rank, 3, comm, MPI_STATUS_IGNORE));
  note("of nothing", MPI_Sendrecv_replace(NULL, 0, MPI_INT, right(), 4, left(), 4, comm, &s));
  note_status(&s);
  const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  note("at an edge", MPI_Sendrecv_replace(values, 3, MPI_INT, up, 5, down, 5, comm, &s));
  note_status(&s);
  note_ints(values, 6);
  MPI_Datatype strided;
  MPI_Type_vector(3, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  note("strided", MPI_Sendrecv_replace(values, 1, strided, right(), 6, left(), 6, comm, &s));
  note_status(&s);
  note_ints(values, 6);
  MPI_Type_free(&strided);
  int* large = malloc(LARGE * sizeof *large);
  for (int i = 0; i < LARGE; ++i) large[i] = rank + i;
  note("large", MPI_Sendrecv_replace(large, LARGE, MPI_INT, right(), 7, left(), 7, comm, &s));
  note_status(&s);
  note_wrong(large, LARGE, left());
  free(large);
}

/* Nothing is sent by a call whose arguments are wrong. */
static void wrong_in_place(void) {
  MPI_Status s;
  int value = rank;
  note("to a wrong rank", MPI_Sendrecv_replace(&value, 1, MPI_INT, size, 10, left(), 10, comm, &s));
  note("from a wrong rank", MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), 10, size, 10, comm, &s));
  note("less than nothing", MPI_Sendrecv_replace(&value, -1, MPI_INT, right(), 10, left(), 10, comm, &s));
  note("of no type", MPI_Sendrecv_replace(&value, 1, MPI_DATATYPE_NULL, right(), 10, left(), 10, comm, &s));
  note("with a wrong tag", MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), -5, left(), 10, comm, &s));
  MPI_Barrier(comm);
  int flag = 1;
  MPI_Iprobe(MPI_ANY_SOURCE, 10, comm, &flag, MPI_STATUS_IGNORE);
  fprintf(out, "left behind %d\n", flag);
}

/* With itself, a rank waits in MPICH for ever. */
static void truncated_in_place(void) {
  if (size == 1) return;
  MPI_Status s;
  int values[4] = {1, 2, 3, 4};
  MPI_Request sent;
  MPI_Isend(values, 4, MPI_INT, right(), 11, comm, &sent);
  int value = 5, got = 0;
  note("too much comes", MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), 12, left(), 11, comm, &s));
  MPI_Recv(&got, 1, MPI_INT, left(), 12, comm, &s);
  note_ints(&got, 1);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

/* After an error MPICH leaves the handle of a message that it has taken, but not in MPI_Imrecv. */
static void matched(int n, int room) {
  MPI_Status s;
  MPI_Message message;
  MPI_Request sent;
  int* values = malloc((size_t)n * sizeof *values);
  int* got = calloc((size_t)room, sizeof *got);
  for (int i = 0; i < n; ++i) values[i] = rank + i;
  MPI_Isend(values, n, MPI_INT, right(), 20, comm, &sent);
  note("Mprobe", MPI_Mprobe(left(), 20, comm, &message, &s));
  note("Mrecv", MPI_Mrecv(got, room, MPI_INT, &message, &s));
  if (n <= room) note_status(&s);
  if (n <= room) note_wrong(got, n, left());
  if (n <= room) fprintf(out, "message is null %d\n", message == MPI_MESSAGE_NULL);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  free(values);
  free(got);
}

static void matched_oddly(void) {
  MPI_Message message = MPI_MESSAGE_NO_PROC;
  MPI_Status s;
  int got = 0;
  note("Mrecv of nobody", MPI_Mrecv(&got, 1, MPI_INT, &message, &s));
  note_status(&s);
  int value = rank;
  MPI_Request sent;
  MPI_Isend(&value, 1, MPI_INT, right(), 21, comm, &sent);
  MPI_Mprobe(MPI_ANY_SOURCE, 21, comm, &message, MPI_STATUS_IGNORE);
  note("no status", MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
  note_ints(&got, 1);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

/* All five, on a topology in which this rank has so many neighbors. */
static void exchange(const char* name, MPI_Comm grid, int sources) {
  int counts[MOST], places[MOST], sent[2 * MOST], got[2 * MOST];
  MPI_Aint offsets[MOST];
  MPI_Datatype types[MOST];
  for (int i = 0; i < MOST; ++i) {
    counts[i] = 1 + i % 2;
    places[i] = 2 * i;
    offsets[i] = (MPI_Aint)(places[i] * sizeof(int));
    types[i] = MPI_INT;
  }
  for (int i = 0; i < 2 * MOST; ++i) sent[i] = 100 * rank + i;
  fprintf(out, "%s\n", name);
  for (int turn = 0; turn < 5; ++turn) {
    for (int i = 0; i < 2 * MOST; ++i) got[i] = -1;
    int code = MPI_SUCCESS;
    if (turn == 0) code = MPI_Neighbor_allgather(sent, 2, MPI_INT, got, 2, MPI_INT, grid);
    if (turn == 1) code = MPI_Neighbor_alltoall(sent, 2, MPI_INT, got, 2, MPI_INT, grid);
    for (int i = 0; i < MOST; ++i) counts[i] = 2;
    if (turn == 2) code = MPI_Neighbor_allgatherv(sent, 2, MPI_INT, got, counts, places, MPI_INT, grid);
    if (turn == 3)
      code = MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, grid);
    if (turn == 4)
      code = MPI_Neighbor_alltoallw(sent, counts, offsets, types, got, counts, offsets, types, grid);
    note("  exchange", code);
    note_ints(got, 2 * sources);
  }
}

static void grids(void) {
  MPI_Comm grid;
  int shape[2] = {0, 0}, wraps[2] = {1, 1};
  for (int wrap = 0; wrap < 2; ++wrap) { /* of two ranks, or of one, a ring has each neighbor twice */
    MPI_Cart_create(comm, 1, &size, &wrap, 0, &grid);
    exchange(wrap ? "ring" : "line", grid, 2);
    MPI_Comm_free(&grid);
  }
  MPI_Dims_create(size, 2, shape);
  MPI_Cart_create(comm, 2, shape, wraps, 0, &grid);
  exchange("torus", grid, 4);
  MPI_Comm_free(&grid);
}

static void graphs(void) {
  MPI_Comm graph;
  const int from[3] = {left(), left(), rank}, to[3] = {right(), right(), rank};
  MPI_Dist_graph_create_adjacent(comm, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  exchange("one way", graph, 1);
  MPI_Comm_free(&graph);
  MPI_Dist_graph_create_adjacent(comm, 3, from, MPI_UNWEIGHTED, 3, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  exchange("twice and oneself", graph, 3);
  MPI_Comm_free(&graph);
}

static void begin(int* argc, char*** argv) {
  const char* wanted = getenv("WAITING_LEVEL");
  const int level = wanted != NULL && *wanted == 'm' ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided;
  MPI_Init_thread(argc, argv, level, &provided);
  if (provided < level) MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", argc > 1 ? argv[1] : ".", rank);
  out = fopen(path, "w");
  if (out == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_errors, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  /* Where some libraries bring the errors of requests, and of matched receives. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  in_place();
  wrong_in_place();
  truncated_in_place();
  matched(3, 5);
  matched(LARGE, LARGE);
  matched_oddly();
  grids();
  graphs();
  matched(4, 1); /* too much */
  MPI_Comm_free(&comm);
  MPI_Errhandler_free(&handler);
  fprintf(out, "end\n");
  fclose(out);
  MPI_Finalize();
  return 0;
}
