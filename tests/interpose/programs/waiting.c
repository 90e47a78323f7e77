/* Every blocking call, in ordinary and odd cases. Writes what each gave, a line a case, to FOLDER/rank-<n>: with
 * polling calls it must be what it is without.
 *   mpiexec -n 3 ./waiting FOLDER
 * WAITING_LEVEL: funneled, ordered (MPI_THREAD_SERIALIZED) or multiple. WAITING_THREADS: so many threads make all of
 * these calls at once, each in a communicator of its own. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocking_epochs.h"
#include "blocking_notes.h"
#include "blocking_requests.h"

enum { LARGE = 1 << 18, ORDERED = 60, MOST_THREADS = 4 };

static void sends_and_receives(void) {
  int in[4] = {0}, values[4] = {rank, rank + 10, rank + 20, rank + 30};
  MPI_Status s;
  for (int way = 0; way < 4; ++way) {
    if (rank == 0) {
      for (int r = 1; r < size; ++r) {
        if (way == 0) note("Send", MPI_Send(values, 4, MPI_INT, r, way, comm));
        if (way == 1) note("Ssend", MPI_Ssend(values, 4, MPI_INT, r, way, comm));
        if (way == 2) note("Send of nothing", MPI_Send(NULL, 0, MPI_INT, r, way, comm));
        if (way == 3) note("Send of less", MPI_Send(values, 2, MPI_INT, r, way, comm));
      }
    } else {
      memset(in, 0, sizeof in);
      note("Recv",
           MPI_Recv(in, 4, MPI_INT, way % 2 ? 0 : MPI_ANY_SOURCE, way < 2 ? MPI_ANY_TAG : way, comm, &s));
      note_status(&s);
      note_ints(in, 4);
    }
  }
  MPI_Barrier(comm);
  int* large = calloc(LARGE, sizeof(int));
  for (int i = 0; i < LARGE; ++i) large[i] = rank + i;
  if (rank == 0) {
    MPI_Send(large, LARGE, MPI_INT, 1, 5, comm);
    note("large Recv", MPI_Recv(large, LARGE, MPI_INT, size - 1, 5, comm, &s));
  } else {
    int* got = calloc(LARGE, sizeof(int));
    note("large Recv", MPI_Recv(got, LARGE, MPI_INT, rank - 1, 5, comm, &s));
    note("large Ssend", MPI_Ssend(got, LARGE, MPI_INT, right(), 5, comm));
    free(got);
  }
  note_status(&s);
  int wrong = 0;
  for (int i = 0; i < LARGE; ++i) wrong += large[i] != (rank == 0 ? i : rank + i);
  fprintf(out, "wrong %d\n", wrong);
  free(large);
  note("Send to nobody", MPI_Send(values, 4, MPI_INT, MPI_PROC_NULL, 0, comm));
  note("Ssend to nobody", MPI_Ssend(values, 4, MPI_INT, MPI_PROC_NULL, 0, comm));
  note("Recv from nobody", MPI_Recv(in, 4, MPI_INT, MPI_PROC_NULL, 0, comm, &s));
  note_status(&s);
  note("Recv, no status", MPI_Recv(in, 4, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE));
}

static void exchanges(void) {
  MPI_Status s;
  int value = rank + 100, got = -1;
  note("Sendrecv", MPI_Sendrecv(&value, 1, MPI_INT, right(), 1, &got, 1, MPI_INT, left(), 1, comm, &s));
  note_status(&s);
  note_ints(&got, 1);
  note("Sendrecv of anybody's",
       MPI_Sendrecv(&value, 1, MPI_INT, left(), 2, &got, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &s));
  note_status(&s);
  note_ints(&got, 1);
  note("Sendrecv with oneself",
       MPI_Sendrecv(&value, 1, MPI_INT, rank, 3, &got, 1, MPI_INT, rank, 3, comm, &s));
  note_status(&s);
  const int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  note("Sendrecv at an edge", MPI_Sendrecv(&value, 1, MPI_INT, up, 4, &got, 1, MPI_INT, down, 4, comm, &s));
  note_status(&s);
  note("Sendrecv_replace", MPI_Sendrecv_replace(&value, 1, MPI_INT, right(), 5, left(), 5, comm, &s));
  note_status(&s);
  note_ints(&value, 1);
}

static void probes(void) {
  MPI_Status s;
  MPI_Message message;
  int got[3] = {0}, values[3] = {rank, 1, 2};
  for (int way = 0; way < 3; ++way) {
    if (rank == 0) {
      for (int r = 1; r < size; ++r) MPI_Send(values, way + 1, MPI_INT, r, 20 + way, comm);
      continue;
    }
    if (way < 2) {
      note("Probe", MPI_Probe(way ? 0 : MPI_ANY_SOURCE, way ? 21 : MPI_ANY_TAG, comm, &s));
      note_status(&s);
      MPI_Recv(got, 3, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, comm, &s);
    } else {
      note("Mprobe", MPI_Mprobe(MPI_ANY_SOURCE, 22, comm, &message, &s));
      note_status(&s);
      note("Mrecv", MPI_Mrecv(got, 3, MPI_INT, &message, &s));
      fprintf(out, "message is null %d\n", message == MPI_MESSAGE_NULL);
    }
    note_status(&s);
    note_ints(got, 3);
  }
  MPI_Barrier(comm); /* what comes next is not for the probes of any message */
  note("Probe of nobody", MPI_Probe(MPI_PROC_NULL, 0, comm, &s));
  note_status(&s);
  note("Mprobe of nobody", MPI_Mprobe(MPI_PROC_NULL, 0, comm, &message, &s));
  fprintf(out, "no process %d\n", message == MPI_MESSAGE_NO_PROC);
  note("Mrecv of nobody", MPI_Mrecv(got, 3, MPI_INT, &message, MPI_STATUS_IGNORE));
}

static void truncated(void) {
  MPI_Request r[2];
  MPI_Status s[2];
  int got[4] = {0}, values[4] = {1, 2, 3, 4}, index = -1, done = -1, indices[2];
  const int peer = rank == 0 ? 1 : 0;
  for (int way = 0; way < 6 && rank < 2; ++way) {
    MPI_Request send[2];
    MPI_Isend(values, 4, MPI_INT, peer, 60, comm, &send[0]);
    MPI_Isend(values, 1, MPI_INT, peer, 61, comm, &send[1]);
    if (way < 2) {
      if (way == 0) note("Recv of too much", MPI_Recv(got, 1, MPI_INT, peer, 60, comm, s));
      if (way == 1)
        note("Sendrecv of too much",
             MPI_Sendrecv(values, 1, MPI_INT, rank, 62, got, 1, MPI_INT, peer, 60, comm, s));
      if (way == 1) MPI_Recv(got, 1, MPI_INT, rank, 62, comm, s);
      MPI_Recv(got, 1, MPI_INT, peer, 61, comm, s);
    } else {
      MPI_Irecv(&got[0], 1, MPI_INT, peer, 60, comm, &r[0]);
      MPI_Irecv(&got[1], 1, MPI_INT, peer, 61, comm, &r[1]);
      /* What was sent last has come, so they have too. */
      MPI_Sendrecv(values, 1, MPI_INT, peer, 63, &got[2], 1, MPI_INT, peer, 63, comm, MPI_STATUS_IGNORE);
      handled = 0;
      if (way == 2) note("Wait for too much", MPI_Wait(&r[0], s));
      if (way == 3) note("Waitany for too much", MPI_Waitany(2, r, &index, s));
      if (way == 4) note("Waitall for too much", MPI_Waitall(2, r, s));
      if (way == 5) note("Waitsome for too much", MPI_Waitsome(2, r, &done, indices, s));
      if (way == 3) fprintf(out, "index %d\n", index);
      if (way == 5) fprintf(out, "done %d\n", done);
      /* The other may be MPI_ERR_PENDING or not. */
      if (way == 4) note("  status", s[0].MPI_ERROR);
      fprintf(out, "null %d\n", r[0] == MPI_REQUEST_NULL);
      for (int i = 0; i < 2; ++i)
        if (r[i] != MPI_REQUEST_NULL) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
      handled = 0;
    }
    MPI_Waitall(2, send, MPI_STATUSES_IGNORE);
  }
}

static void wrong_arguments(void) {
  MPI_Status s;
  MPI_Message message;
  int got = 0, value = 0;
  note("Send to a wrong rank", MPI_Send(&value, 1, MPI_INT, size, 0, comm));
  note("Ssend of less than nothing", MPI_Ssend(&value, -1, MPI_INT, 0, 0, comm));
  note("Send with a wrong tag", MPI_Send(&value, 1, MPI_INT, 0, -5, comm));
  note("Recv from a wrong rank", MPI_Recv(&got, 1, MPI_INT, size, 0, comm, &s));
  note("Recv of less than nothing", MPI_Recv(&got, -1, MPI_INT, 0, 0, comm, &s));
  note("Probe of a wrong rank", MPI_Probe(size, 0, comm, &s));
  note("Mprobe of a wrong rank", MPI_Mprobe(size, 0, comm, &message, &s));
  note("Sendrecv to a wrong rank",
       MPI_Sendrecv(&value, 1, MPI_INT, size, 70, &got, 1, MPI_INT, left(), 70, comm, &s));
  note("Sendrecv from a wrong rank",
       MPI_Sendrecv(&value, 1, MPI_INT, right(), 70, &got, 1, MPI_INT, size, 70, comm, &s));
  MPI_Barrier(comm);
  int flag = 1;
  MPI_Iprobe(MPI_ANY_SOURCE, 70, comm, &flag, MPI_STATUS_IGNORE);
  fprintf(out, "left behind %d\n", flag);
}

/* Messages of one rank overtake each other nowhere, however they are sent and received. */
static void ordered(void) {
  MPI_Request r[ORDERED];
  int got[ORDERED], values[ORDERED];
  for (int i = 0; i < ORDERED; ++i) values[i] = 1000 * rank + i, got[i] = -1;
  for (int i = 0; i < ORDERED; ++i) r[i] = MPI_REQUEST_NULL;
  const int to = rank == 0 ? 1 : 0;
  for (int turn = 0; turn < 2 && rank < 2; ++turn) {
    for (int i = 0; i < ORDERED && turn == rank; ++i)
      if (i % 3 == 0) MPI_Isend(&values[i], 1, MPI_INT, to, 80, comm, &r[i]);
      else if (i % 3 == 1) MPI_Send(&values[i], 1, MPI_INT, to, 80, comm);
      else MPI_Ssend(&values[i], 1, MPI_INT, to, 80, comm);
    for (int i = 0; i < ORDERED && turn != rank; ++i)
      if (i % 4 == 0) MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 80, comm, &r[i]);
      else if (i % 4 == 1)
        MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, &got[i], 1, MPI_INT, to, 80, comm,
                     MPI_STATUS_IGNORE);
      else MPI_Recv(&got[i], 1, MPI_INT, to, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    MPI_Waitall(ORDERED, r, MPI_STATUSES_IGNORE);
  }
  note_ints(got, ORDERED);
}

static void collectives(MPI_Comm c) {
  int n, me, sum = -1, counts[8], displacements[8], got[24] = {0}, values[3];
  MPI_Comm_size(c, &n);
  MPI_Comm_rank(c, &me);
  for (int i = 0; i < 3; ++i) values[i] = 10 * me + i;
  for (int i = 0; i < n; ++i) counts[i] = i % 3 + 1, displacements[i] = 3 * i;
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Barrier(c);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c);
    note_ints(&sum, 1);
    MPI_Gatherv(values, counts[me], MPI_INT, got, counts, displacements, MPI_INT, turn % n, c);
    note_ints(got, 3 * n);
    MPI_Scatterv(got, counts, displacements, MPI_INT, values, counts[me], MPI_INT, turn % n, c);
    note_ints(values, 3);
    MPI_Scan(MPI_IN_PLACE, values, 3, MPI_INT, MPI_MAX, c);
    MPI_Exscan(values, got, me == 0 ? 3 : 3, MPI_INT, MPI_SUM, c);
    if (me > 0) note_ints(got, 3);
    MPI_Bcast(got, 3 * n, MPI_INT, n - 1, c);
    note_ints(got, 3 * n);
  }
}

/* Two groups and what joins them. */
static void groups(void) {
  MPI_Comm half, inter, merged;
  MPI_Comm_split(comm, rank % 2, rank, &half);
  collectives(half);
  MPI_Intercomm_create(half, 0, comm, rank % 2 ? 0 : 1, 90, &inter);
  int sum = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  note_ints(&sum, 1);
  MPI_Barrier(inter);
  MPI_Intercomm_merge(inter, rank % 2, &merged);
  collectives(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* MPI_THREAD_SINGLE, or the level that WAITING_LEVEL names by its first letter. */
static void begin(int* argc, char*** argv) {
  const char* wanted = getenv("WAITING_LEVEL");
  const char letter = wanted == NULL ? 's' : *wanted;
  const int level = letter == 'm'   ? MPI_THREAD_MULTIPLE
                    : letter == 'o' ? MPI_THREAD_SERIALIZED
                    : letter == 'f' ? MPI_THREAD_FUNNELED
                                    : MPI_THREAD_SINGLE;
  int provided;
  MPI_Init_thread(argc, argv, level, &provided);
  if (provided < level) MPI_Abort(MPI_COMM_WORLD, 3);
}

struct Thread {
  pthread_t id;
  MPI_Comm comm, world; /* both of all ranks */
  struct Windows windows;
  FILE* notes;
  char* text;
  size_t length;
};

/* What is noted from now on is this thread's, and so are the calls. */
static void enter(struct Thread* thread) {
  out = thread->notes;
  comm = thread->comm;
}

static void* cases(void* data) {
  struct Thread* thread = data;
  enter(thread);
  sends_and_receives();
  exchanges();
  probes();
  single_requests();
  many_requests();
  truncated();
  wrong_arguments();
  ordered();
  collectives(thread->world);
  groups();
  epochs(&thread->windows);
  return NULL;
}

static void run(struct Thread* threads, int count) {
  if (count == 1) return (void)cases(&threads[0]);
  for (int i = 0; i < count; ++i) pthread_create(&threads[i].id, NULL, cases, &threads[i]);
  for (int i = 0; i < count; ++i) pthread_join(threads[i].id, NULL);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const wanted = getenv("WAITING_THREADS");
  const int count = wanted == NULL ? 1 : atoi(wanted);
  if (count < 1 || count > MOST_THREADS) MPI_Abort(MPI_COMM_WORLD, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", argc > 1 ? argv[1] : ".", rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_errors, &handler);
  struct Thread threads[MOST_THREADS];
  for (int i = 0; i < count; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
    MPI_Comm_set_errhandler(threads[i].comm, handler);
    threads[i].world = MPI_COMM_WORLD;
    if (count > 1) MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].world);
  }
  /* Where some libraries bring the errors of requests. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  /* Windows are made and freed by one thread at a time: MPICH 5 and Open MPI 5 crash now and then where two do so. */
  for (int i = 0; i < count; ++i) {
    threads[i].notes = open_memstream(&threads[i].text, &threads[i].length);
    enter(&threads[i]);
    make_windows(&threads[i].windows);
  }
  run(threads, count);
  for (int i = 0; i < count; ++i) {
    enter(&threads[i]);
    free_windows(&threads[i].windows);
    fclose(threads[i].notes);
    fwrite(threads[i].text, 1, threads[i].length, file);
    free(threads[i].text);
    if (count > 1) MPI_Comm_free(&threads[i].world);
    MPI_Comm_free(&threads[i].comm);
  }
  MPI_Errhandler_free(&handler);
  fprintf(file, "end\n");
  fclose(file);
  MPI_Finalize();
  return 0;
}
