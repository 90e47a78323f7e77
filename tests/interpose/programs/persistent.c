/* Persistent collectives of all kinds, started again and again, completed by each function that completes requests,
 * among persistent messages. Prints per rank "N checks, M failures". */
#include "collective_calls.h"
#include "completing.h"

enum { ROUNDS = 4, SEVERAL = 39, MESSAGES = 2 };

static Call made(Kind kind, int count, int seed, int variant, int in_place, MPI_Comm comm) {
  Call c = make(kind, PERSISTENT, count, seed, variant, in_place);
  issue(&c, comm);
  return c;
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
  validate(is_inactive(&c->request), c, what);
  MPI_Request_free(&c->request);
  validate(c->request == MPI_REQUEST_NULL, c, what);
  drop(c);
}

/* Several at once, in an order of each rank's own, with messages to and from the neighbors among them. Half of them are
 * started together. */
static void several(MPI_Comm comm) {
  static Call calls[SEVERAL];
  MPI_Request requests[SEVERAL + MESSAGES];
  int order[SEVERAL], sent = -1, got = -1;
  for (int i = 0; i < SEVERAL; ++i) {
    calls[i] = made(i % ON_ANY, 2 + 13 * (i % 5), i, i % 2, i % 3 == 0, comm);
  }
  MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % size, 77, comm, &requests[SEVERAL]);
  MPI_Recv_init(&got, 1, MPI_INT, MPI_ANY_SOURCE, 77, comm, &requests[SEVERAL + 1]);
  for (int way = 0; way < WAYS; ++way) {
    shuffle(rank, SEVERAL, order);
    for (int i = 0; i < SEVERAL; ++i) requests[i] = calls[order[i]].request;
    sent = 100 * way + rank;
    for (int i = 0; i < SEVERAL / 2; ++i) MPI_Start(&requests[i]);
    MPI_Startall(SEVERAL + MESSAGES - SEVERAL / 2, requests + SEVERAL / 2);
    complete(way, SEVERAL + MESSAGES, requests);
    for (int i = 0; i < SEVERAL; ++i) {
      validate(is_right(&calls[i]), &calls[i], "several");
      renew(&calls[i]);
    }
    validate(got == 100 * way + (rank + size - 1) % size, &calls[0], "a message among them");
  }
  MPI_Request_free(&requests[SEVERAL]);
  MPI_Request_free(&requests[SEVERAL + 1]);
  for (int i = 0; i < SEVERAL; ++i) finish(&calls[order[i]], "several, at the end");
}

/* Rank 0 completes its call first, while the others are in a blocking call that waits for rank 0. */
static void held_up(MPI_Comm comm) {
  Call c = made(ALLTOALL, 50, 3, 0, 0, comm);
  for (int round = 0; round < ROUNDS; ++round) {
    if (round > 0) renew(&c);
    MPI_Start(&c.request);
    if (rank == 0) MPI_Wait(&c.request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) MPI_Wait(&c.request, MPI_STATUS_IGNORE);
    validate(is_right(&c), &c, "held up");
  }
  finish(&c, "held up, at the end");
}

/* The communicator goes before its calls; some are never started. */
static void freed(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Call used = made(ALLREDUCE, 40, 1, 0, 0, comm), unused = made(BCAST, 40, 2, 0, 0, comm);
  MPI_Comm_free(&comm);
  finish(&unused, "never started");
  MPI_Start(&used.request);
  MPI_Wait(&used.request, MPI_STATUS_IGNORE);
  validate(is_right(&used), &used, "freed");
  finish(&used, "freed, at the end");
}

/* Rank 0 has too little room: it gets an error each time, and the others what they are due. */
static void too_short(MPI_Comm comm) {
  Call c = make(ALLTOALL, PERSISTENT, 20, 5, 0, 0);
  const int ints_sent = 20 * INTS, ints_room = ints_sent - (rank == 0);
  const int told = getenv("TEST_ERRORS_ARE_LOST") == NULL ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* where some libraries report it */
  MPI_Alltoall_init(c.send, ints_sent, MPI_INT, c.receive, ints_room, MPI_INT, comm, MPI_INFO_NULL,
                    &c.request);
  for (int round = 0; round < ROUNDS; ++round) {
    int error = MPI_SUCCESS;
    if (round > 0) renew(&c);
    MPI_Start(&c.request);
    MPI_Error_class(MPI_Wait(&c.request, MPI_STATUS_IGNORE), &error);
    validate(rank == 0 ? error == told : error == MPI_SUCCESS && is_right(&c), &c, "too short");
  }
  finish(&c, "too short, at the end");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A program may neither cancel a collective nor learn from its status. */
static void odd(MPI_Comm comm) {
  Call c = made(ALLTOALL, 3, 1, 0, 0, comm);
  MPI_Status status;
  int count = -1, cancelled = -1;
  MPI_Start(&c.request);
  validate(MPI_Cancel(&c.request) == MPI_ERR_REQUEST, &c, "cancelled");
  MPI_Wait(&c.request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  validate(count == 0 && !cancelled && is_right(&c), &c, "status");
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
  make_operations();
  if (ours()) others(comm);
  MPI_Comm_free(&comm);
  free_operations();
  printf("rank %d: %ld checks, %ld failures\n", rank, checks, failures);
  MPI_Finalize();
  return failures != 0;
}
