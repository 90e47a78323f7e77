/* Nonblocking collectives of all kinds, many at once, completed by each function that completes requests. Prints per
 * rank "N checks, M failures". */
#include "collective_calls.h"
#include "completing.h"

/* The first two variants are of predefined operations: calls that Wherry performs. */
static Call started(Kind kind, int count, int seed, int variant, int in_place, MPI_Comm comm) {
  Call c = make(kind, NONBLOCKING, count, seed, variant, in_place);
  issue(&c, comm);
  return c;
}

static void check(Call* c, const char* what) {
  validate(is_right(c) && c->request == MPI_REQUEST_NULL, c, what);
  drop(c);
}

static void outstanding(MPI_Comm comm, int way) {
  static Call calls[OUTSTANDING];
  MPI_Request requests[OUTSTANDING + 1];
  int order[OUTSTANDING], token = -1, sent = rank;
  for (int i = 0; i < OUTSTANDING; ++i) {
    calls[i] = started(i % ON_ANY, 1 + 13 * (i % 5), 100 * way + i, i % 2, i % 3 == 0, comm);
  }
  shuffle(rank, OUTSTANDING, order);
  for (int i = 0; i < OUTSTANDING; ++i) requests[i] = calls[order[i]].request;
  MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 77, comm, &requests[OUTSTANDING]);
  MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, 77, comm);
  complete(way, OUTSTANDING + 1, requests);
  for (int i = 0; i < OUTSTANDING; ++i) {
    calls[order[i]].request = requests[i];
    check(&calls[order[i]], "outstanding");
  }
  validate(token == (rank + size - 1) % size, &calls[0], "a message among them");
}

/* Rank 0 completes its call first, while the others are in a blocking call that waits for rank 0. */
static void held_up(MPI_Comm comm, int how) {
  Call c = started(how % 2 == 0 ? ALLTOALL : ALLREDUCE, 50, how, 0, 0, comm);
  int token = 0;
  MPI_Comm made = MPI_COMM_NULL;
  if (rank == 0) MPI_Wait(&c.request, MPI_STATUS_IGNORE);
  switch (how) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1:
    case 2:
      if (rank == 0)
        for (int to = 1; to < size; ++to) MPI_Send(&token, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
      else if (how == 1) MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      else {
        MPI_Probe(0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      break;
    case 3: MPI_Comm_dup(MPI_COMM_WORLD, &made); break;
    default: MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, comm);
  }
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  if (rank != 0) MPI_Wait(&c.request, MPI_STATUS_IGNORE);
  check(&c, "held up");
}

/* Two communicators whose calls start in different orders on even and odd ranks, and that go before the calls are
 * over. */
static void freed(void) {
  MPI_Comm comms[2];
  Call calls[2][20];
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]), enable(comms[i]);
  for (int turn = 0; turn < 2; ++turn) {
    const int which = (turn + rank) % 2;
    for (int i = 0; i < 20; ++i) {
      calls[which][i] = started(i % ON_ANY, 5 + i, 1000 * which + i, 0, 0, comms[which]);
    }
  }
  /* Open MPI 5 crashes when a communicator of its own calls goes. */
  if (ours()) MPI_Comm_free(&comms[0]), MPI_Comm_free(&comms[1]);
  for (int which = 1; which >= 0; --which)
    for (int i = 19; i >= 0; --i) {
      MPI_Wait(&calls[which][i].request, MPI_STATUS_IGNORE);
      check(&calls[which][i], "freed");
    }
}

/* One element for each rank at an absolute address, in a block twice as large as what arrives: legal are the addresses,
 * and the room is what libraries forgive. */
static void absolute(MPI_Comm comm) {
  const size_t ranks = (size_t)size;
  enum { GAP = 3 };
  int *in = malloc(sizeof(int) * ranks), *out = malloc(sizeof(int) * 2 * ranks * GAP), right = 1;
  int *ones = malloc(sizeof(int) * ranks), *zeros = calloc(ranks, sizeof(int));
  MPI_Datatype *from = malloc(sizeof(MPI_Datatype) * ranks), *to = malloc(sizeof(MPI_Datatype) * ranks);
  Call c = {.kind = ALLTOALLW, .count = 1};
  for (int i = 0; i < 2 * size * GAP; ++i) out[i] = GUARD;
  for (int i = 0; i < size; ++i) {
    MPI_Aint at[2];
    in[i] = 100 * rank + i;
    ones[i] = 1;
    MPI_Get_address(&in[i], &at[0]);
    MPI_Type_create_hindexed_block(1, 1, at, MPI_INT, &from[i]);
    for (int k = 0; k < 2; ++k) MPI_Get_address(&out[(2 * i + k) * GAP], &at[k]);
    MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &to[i]);
    MPI_Type_commit(&from[i]), MPI_Type_commit(&to[i]);
  }
  MPI_Ialltoallw(MPI_BOTTOM, ones, zeros, from, MPI_BOTTOM, ones, zeros, to, comm, &c.request);
  MPI_Wait(&c.request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2 * size * GAP; ++i)
    right &= out[i] == (i % (2 * GAP) == 0 ? 100 * (i / (2 * GAP)) + rank : GUARD);
  validate(right, &c, "absolute addresses");
  for (int i = 0; i < size; ++i) MPI_Type_free(&from[i]), MPI_Type_free(&to[i]);
  free(in), free(out), free(ones), free(zeros), free(from), free(to);
}

/* As of any request for which there is nothing to receive. */
static void status_is_empty(MPI_Comm comm) {
  Call c = started(ALLTOALL, 3, 1, 0, 0, comm);
  MPI_Status status;
  int count = -1, cancelled = -1;
  MPI_Wait(&c.request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  validate(count == 0 && cancelled == 0, &c, "status");
  check(&c, "status");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  make_operations();
  enable(comm);
  for (int way = 0; way < WAYS; ++way) outstanding(comm, way);
  for (int how = 0; how < 5; ++how) held_up(comm, how);
  if (ours()) status_is_empty(comm), absolute(comm);
  freed();
  MPI_Comm_free(&comm);
  free_operations();
  printf("rank %d: %ld checks, %ld failures\n", rank, checks, failures);
  MPI_Finalize();
  return failures != 0;
}
