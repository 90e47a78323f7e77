/* The calls that wait for requests, of all kinds of requests. */
#ifndef BLOCKING_REQUESTS_H
#define BLOCKING_REQUESTS_H

#include "blocking_notes.h"

static _Thread_local int queried;
static int query(void* state, MPI_Status* s) {
  (void)state;
  ++queried;
  MPI_Status_set_elements(s, MPI_INT, 3);
  MPI_Status_set_cancelled(s, 0);
  s->MPI_SOURCE = s->MPI_TAG = 17;
  return MPI_SUCCESS;
}
static int nothing(void* state) { return (void)state, MPI_SUCCESS; }
static int no_cancel(void* state, int done) { return (void)state, (void)done, MPI_SUCCESS; }

static void single_requests(void) {
  MPI_Status s;
  int value = rank, got = -1;
  MPI_Request r = MPI_REQUEST_NULL, send;
  note("Wait for none", MPI_Wait(&r, &s));
  note_status(&s);
  MPI_Irecv(&got, 1, MPI_INT, left(), 30, comm, &r);
  MPI_Isend(&value, 1, MPI_INT, right(), 30, comm, &send);
  note("Wait for a receive", MPI_Wait(&r, &s));
  note_status(&s);
  note("Wait for a send", MPI_Wait(&send, MPI_STATUS_IGNORE));
  fprintf(out, "null %d %d\n", r == MPI_REQUEST_NULL, send == MPI_REQUEST_NULL);
  MPI_Irecv(&got, 1, MPI_INT, left(), 31, comm, &r);
  MPI_Cancel(&r);
  note("Wait for a cancelled one", MPI_Wait(&r, &s));
  note_status(&s);
  MPI_Recv_init(&got, 1, MPI_INT, left(), 32, comm, &r);
  note("Wait for an inactive one", MPI_Wait(&r, &s));
  note_status(&s);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&r);
    MPI_Send(&value, 1, MPI_INT, right(), 32, comm);
    note("Wait for a persistent one", MPI_Wait(&r, &s));
    note_status(&s);
    fprintf(out, "kept %d\n", r != MPI_REQUEST_NULL);
  }
  MPI_Request_free(&r);
  MPI_Grequest_start(query, nothing, no_cancel, NULL, &r);
  MPI_Grequest_complete(r);
  note("Wait for a generalized one", MPI_Wait(&r, &s));
  note_status(&s);
  fprintf(out, "queried %d\n", queried);
}

static void many_requests(void) {
  MPI_Request r[5], send;
  MPI_Status s[5];
  int got[5] = {0}, value = rank, index = -5, done = -5, indices[5] = {0};
  for (int i = 0; i < 5; ++i) r[i] = MPI_REQUEST_NULL;
  note("Waitall for none", MPI_Waitall(5, r, s));
  note("Waitall of none", MPI_Waitall(0, r, s));
  note("Waitany for none", MPI_Waitany(5, r, &index, s));
  fprintf(out, "undefined %d\n", index == MPI_UNDEFINED);
  note("Waitsome for none", MPI_Waitsome(5, r, &done, indices, s));
  fprintf(out, "undefined %d\n", done == MPI_UNDEFINED);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5; ++i)
      if (i != 2) MPI_Irecv(&got[i], 1, MPI_INT, left(), 40 + i, comm, &r[i]);
    for (int i = 4; i >= 0; --i)
      if (i != 2) MPI_Send(&value, 1, MPI_INT, right(), 40 + i, comm);
    note("Waitall", MPI_Waitall(5, r, round ? MPI_STATUSES_IGNORE : s));
    if (!round)
      for (int i = 0; i < 5; ++i) note_status(&s[i]);
    note_ints(got, 5);
  }
  MPI_Recv_init(&got[0], 1, MPI_INT, left(), 50, comm, &r[0]); /* stays inactive */
  MPI_Irecv(&got[3], 1, MPI_INT, left(), 51, comm, &r[3]);
  MPI_Isend(&value, 1, MPI_INT, right(), 51, comm, &send);
  note("Waitany", MPI_Waitany(5, r, &index, s));
  fprintf(out, "index %d\n", index);
  note_status(s);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Irecv(&got[4], 1, MPI_INT, left(), 52, comm, &r[4]);
  MPI_Send(&value, 1, MPI_INT, right(), 52, comm);
  note("Waitsome", MPI_Waitsome(5, r, &done, indices, s));
  fprintf(out, "done %d, index %d\n", done, indices[0]);
  note_status(s);
  note("Waitsome for inactive ones", MPI_Waitsome(5, r, &done, indices, s));
  fprintf(out, "undefined %d\n", done == MPI_UNDEFINED);
  MPI_Request_free(&r[0]);
}

#endif
