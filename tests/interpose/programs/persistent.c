/* Persistent collectives of all kinds, started again and again, completed in all ways, among persistent messages. Prints per
 * rank "N checks, M failures". */
#include "started_calls.h"

enum { ROUNDS = 4, SEVERAL = 39, MESSAGES = 2 };

static void init(Call* c, MPI_Comm comm) {
  Arrays a = make_arrays(c);
  const void* from = c->in_place ? MPI_IN_PLACE : c->send;
  MPI_Request* r = &c->request;
  const MPI_Info info = MPI_INFO_NULL;
  const int n = c->count;
  switch (c->kind) {
    case ALLTOALL: MPI_Alltoall_init(from, n, MPI_INT, c->receive, n, a.type, comm, info, r); break;
    case ALLTOALLV:
      MPI_Alltoallv_init(c->send, a.counts, a.sdispls, MPI_INT, c->receive, a.counts, a.rdispls, a.type, comm, info, r);
      break;
    case ALLTOALLW:
      MPI_Alltoallw_init(c->send, a.counts, a.sbytes, a.stypes, c->receive, a.counts, a.rbytes, a.rtypes, comm, info, r);
      break;
    case ALLGATHER: MPI_Allgather_init(from, n, MPI_INT, c->receive, n, a.type, comm, info, r); break;
    case BCAST:
      if (is_root(c)) MPI_Bcast_init(c->send, n, MPI_INT, c->root, comm, info, r);
      else MPI_Bcast_init(c->receive, n, a.type, c->root, comm, info, r);
      break;
    case GATHER: MPI_Gather_init(from, n, MPI_INT, c->receive, n, a.type, c->root, comm, info, r); break;
    case SCATTER: MPI_Scatter_init(c->send, n, MPI_INT, c->receive, n, a.type, c->root, comm, info, r); break;
    case REDUCE: MPI_Reduce_init(from, c->receive, n, MPI_INT, MPI_SUM, c->root, comm, info, r); break;
    case ALLREDUCE: MPI_Allreduce_init(from, c->receive, n, MPI_INT, MPI_SUM, comm, info, r); break;
    case REDUCE_SCATTER:
      MPI_Reduce_scatter_block_init(from, c->receive, n, MPI_INT, MPI_SUM, comm, info, r);
      break;
    case ALLGATHERV:
      MPI_Allgatherv_init(from, a.counts[rank], MPI_INT, c->receive, a.counts, a.rdispls, a.type, comm, info, r);
      break;
    case REDUCE_SCATTER_OF:
      MPI_Reduce_scatter_init(from, c->receive, a.counts, MPI_INT, MPI_SUM, comm, info, r);
      break;
    default: MPI_Barrier_init(comm, info, r); break;
  }
  if (ours()) drop_arrays(c, &a); /* Open MPI 5 crashes when a type of its own calls goes */
}

/* Other data in the same place. */
static void renew(Call* c) {
  c->seed += 977;
  fill(c);
}

/* An inactive request is complete at once, as often as one asks. */
static int is_inactive(MPI_Request* request) {
  int waited = 0, flag = 0, asked = 0;
  MPI_Status status;
  waited = MPI_Wait(request, &status) == MPI_SUCCESS;
  MPI_Test(request, &flag, &status);
  MPI_Request_get_status(*request, &asked, &status);
  return waited && flag && asked && *request != MPI_REQUEST_NULL;
}

static void finish(Call* c, const char* what) {
  judge(is_inactive(&c->request), c, what);
  MPI_Request_free(&c->request);
  judge(c->request == MPI_REQUEST_NULL, c, what);
  drop(c);
}

static void each(MPI_Comm comm) {
  const int counts[] = {1, 7, 3000};
  int seed = 0;
  for (int kind = 0; kind < KINDS; ++kind)
    for (int n = 0; n < 3; ++n)
      for (int form = 0; form < 4; ++form) {
        Call c = make(kind, counts[n], ++seed, form & 1, form & 2);
        init(&c, comm);
        for (int round = 0; round < ROUNDS; ++round) {
          if (round > 0) renew(&c);
          MPI_Start(&c.request);
          MPI_Wait(&c.request, MPI_STATUS_IGNORE);
          judge(is_right(&c), &c, "each");
        }
        finish(&c, "each, at the end");
      }
}

/* Several at once, in an order of each rank's own, with messages to and from the neighbours among them. Half of them are
 * started together. */
static void several(MPI_Comm comm) {
  static Call calls[SEVERAL];
  MPI_Request requests[SEVERAL + MESSAGES];
  int order[SEVERAL], sent = -1, got = -1;
  for (int i = 0; i < SEVERAL; ++i) {
    calls[i] = make(i % KINDS, 2 + 13 * (i % 5), i, i % 2, i % 3 == 0);
    init(&calls[i], comm);
  }
  MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % size, 77, comm, &requests[SEVERAL]);
  MPI_Recv_init(&got, 1, MPI_INT, MPI_ANY_SOURCE, 77, comm, &requests[SEVERAL + 1]);
  for (int way = 0; way < WAYS; ++way) {
    shuffle(SEVERAL, order);
    for (int i = 0; i < SEVERAL; ++i) requests[i] = calls[order[i]].request;
    sent = 100 * way + rank;
    for (int i = 0; i < SEVERAL / 2; ++i) MPI_Start(&requests[i]);
    MPI_Startall(SEVERAL + MESSAGES - SEVERAL / 2, requests + SEVERAL / 2);
    complete(way, SEVERAL + MESSAGES, requests);
    for (int i = 0; i < SEVERAL; ++i) {
      judge(is_right(&calls[i]), &calls[i], "several");
      renew(&calls[i]);
    }
    judge(got == 100 * way + (rank + size - 1) % size, &calls[0], "a message among them");
  }
  MPI_Request_free(&requests[SEVERAL]);
  MPI_Request_free(&requests[SEVERAL + 1]);
  for (int i = 0; i < SEVERAL; ++i) finish(&calls[order[i]], "several, at the end");
}

/* Rank 0 completes its call first, while the others are in a blocking call that waits for rank 0. */
static void held_up(MPI_Comm comm) {
  Call c = make(ALLTOALL, 50, 3, 0, 0);
  init(&c, comm);
  for (int round = 0; round < ROUNDS; ++round) {
    if (round > 0) renew(&c);
    MPI_Start(&c.request);
    if (rank == 0) MPI_Wait(&c.request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) MPI_Wait(&c.request, MPI_STATUS_IGNORE);
    judge(is_right(&c), &c, "held up");
  }
  finish(&c, "held up, at the end");
}

/* The communicator goes before its calls; some are never started. */
static void freed(void) {
  MPI_Comm comm;
  Call used = make(ALLREDUCE, 40, 1, 0, 0), unused = make(BCAST, 40, 2, 0, 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  init(&unused, comm);
  init(&used, comm);
  MPI_Comm_free(&comm);
  finish(&unused, "never started");
  MPI_Start(&used.request);
  MPI_Wait(&used.request, MPI_STATUS_IGNORE);
  judge(is_right(&used), &used, "freed");
  finish(&used, "freed, at the end");
}

/* Rank 0 has too little room: it gets an error each time, and the others what they are due. */
static void too_short(MPI_Comm comm) {
  Call c = make(ALLTOALL, 20, 5, 0, 0);
  const int room = rank == 0 ? 19 : 20, told = getenv("TEST_ERRORS_ARE_LOST") == NULL ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* where some libraries report it */
  MPI_Alltoall_init(c.send, 20, MPI_INT, c.receive, room, MPI_INT, comm, MPI_INFO_NULL, &c.request);
  for (int round = 0; round < ROUNDS; ++round) {
    int error = MPI_SUCCESS;
    if (round > 0) renew(&c);
    MPI_Start(&c.request);
    MPI_Error_class(MPI_Wait(&c.request, MPI_STATUS_IGNORE), &error);
    judge(rank == 0 ? error == told : error == MPI_SUCCESS && is_right(&c), &c, "too short");
  }
  finish(&c, "too short, at the end");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A program may neither cancel a collective nor learn from its status. */
static void odd(MPI_Comm comm) {
  Call c = make(ALLTOALL, 3, 1, 0, 0);
  MPI_Status status;
  int count = -1, cancelled = -1;
  init(&c, comm);
  MPI_Start(&c.request);
  judge(MPI_Cancel(&c.request) == MPI_ERR_REQUEST, &c, "cancelled");
  MPI_Wait(&c.request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  judge(count == 0 && !cancelled && is_right(&c), &c, "status");
  finish(&c, "status, at the end");
}

/* What Open MPI 5 and MPICH 5 do not all bear with their own calls. */
static void others(MPI_Comm comm) {
  several(comm);
  held_up(comm);
  freed();
  odd(comm);
  too_short(comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  each(comm);
  if (ours()) others(comm);
  MPI_Comm_free(&comm);
  printf("rank %d: %ld checks, %ld failures\n", rank, checks, failures);
  MPI_Finalize();
  return failures != 0;
}
