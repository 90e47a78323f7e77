/* Non-blocking collectives of all kinds, completed in all ways, against results known by arithmetic. Prints per rank
 * "N checks, M failures". The first calls are blocking: at these the ranks join. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, BCAST, GATHER, SCATTER, REDUCE, ALLREDUCE, REDUCE_SCATTER, ALLGATHERV,
       REDUCE_SCATTER_OF, BARRIER, KINDS };
enum { GUARD = 0x5A5A5A5A, GAP = 3, OUTSTANDING = 100 };

static int rank, size;
static long checks, failures;
static unsigned state = 20261122u;

static unsigned draw(void) { return state = state * 1664525u + 1013904223u, state >> 8; }

static int value(int from, int to, int k, int seed) { return from * 1000003 + to * 8191 + k * 31 + seed * 7; }

/* One call: what it needs until it has been checked. The receive side is gapped, one int of three, if `gapped`. */
typedef struct {
  int kind, count, root, seed, gapped, in_place;
  int *send, *receive;
  long sent, received; /* blocks of each */
  MPI_Request request;
} Call;

/* Elements of the block that rank `peer` has here, of irregular kinds: by a + b of what goes from a to b. */
static int block_of(const Call* c, int peer) {
  switch (c->kind) {
    case ALLTOALLV:
    case ALLTOALLW: return (c->count * ((peer + rank) % 3)) / 2;
    case ALLGATHERV: return (c->count * (peer % 3)) / 2;
    case REDUCE_SCATTER_OF: return c->count - (peer == 0);
    default: return c->count;
  }
}

/* Elements that arrive from `peer`. */
static int arrives_from(const Call* c, int peer) { return block_of(c, c->kind == REDUCE_SCATTER_OF ? rank : peer); }

static int stride(const Call* c) { return c->gapped ? GAP : 1; }

static int is_root(const Call* c) { return rank == c->root; }

static void judge(int right, const Call* c, const char* what) {
  ++checks;
  if (right) return;
  ++failures;
  fprintf(stderr, "rank %d of %d: %s: kind %d, %d elements, root %d, gapped %d, in place %d, seed %d\n", rank, size,
          what, c->kind, c->count, c->root, c->gapped, c->in_place, c->seed);
}

/* What this rank has for `peer` before, element k. */
static int mine(const Call* c, int peer, int k) { return value(rank, peer, k, c->seed); }

static int total(const Call* c, int to, int k) {
  int sum = 0;
  for (int from = 0; from < size; ++from) sum += value(from, to, k, c->seed);
  return sum;
}

/* Blocks of the two buffers: all ranks', one, or none. */
static void lay_out(Call* c) {
  const int all = size, root = is_root(c);
  const int sent[KINDS] = {all, all, all, 1, root, 1, root ? all : 0, 1, 1, all, 1, all, 0};
  const int received[KINDS] = {all, all, all, all, !root, root ? all : 0, 1, root, 1, 1, all, 1, 0};
  c->sent = sent[c->kind];
  c->received = received[c->kind];
  c->send = malloc(sizeof(int) * ((size_t)c->sent * (size_t)c->count + 1));
  const size_t ints = (size_t)size * (size_t)c->count * GAP + 1;
  c->receive = malloc(sizeof(int) * ints);
  for (size_t i = 0; i < ints; ++i) c->receive[i] = GUARD;
  for (long peer = 0; peer < c->sent; ++peer)
    for (int k = 0; k < c->count; ++k) c->send[peer * c->count + k] = mine(c, (int)peer, k);
}

/* In place: this rank's data lies where the result will be. */
static void put_in_place(Call* c) {
  const int s = stride(c);
  const int own = c->kind == ALLGATHER || c->kind == ALLGATHERV || c->kind == GATHER ? rank : 0;
  const int elements = c->kind == ALLGATHERV ? block_of(c, rank) : c->count;
  for (long peer = 0; peer < c->sent; ++peer)
    for (int k = 0; k < elements; ++k)
      c->receive[((own + peer) * c->count + k) * s] = c->send[peer * c->count + k];
}

/* Not every call may be in place or gapped here. */
static Call make(int kind, int count, int seed, int gapped, int in_place) {
  Call c = {.kind = kind, .count = count, .seed = seed, .root = seed % size};
  const int reduces = kind == REDUCE || kind == ALLREDUCE || kind == REDUCE_SCATTER ||
                      kind == REDUCE_SCATTER_OF;
  c.gapped = gapped && !reduces;
  c.in_place = in_place && kind != BCAST && kind != SCATTER && kind != ALLTOALLV && kind != ALLTOALLW &&
               kind != REDUCE_SCATTER_OF && kind != BARRIER && (kind != GATHER && kind != REDUCE ? 1 : is_root(&c));
  lay_out(&c);
  if (c.in_place) put_in_place(&c);
  return c;
}

/* Whether Wherry performs the calls: it promises more than some libraries keep. */
static int ours(void) { return getenv("TEST_WHERRY_PERFORMS") != NULL && size > 1; }

/* The arrays and the types go at once: the call has read them. */
static void start(Call* c, MPI_Comm comm) {
  int *counts = malloc(sizeof(int) * (size_t)size), *sdispls = malloc(sizeof(int) * (size_t)size),
      *rdispls = malloc(sizeof(int) * (size_t)size), *sbytes = malloc(sizeof(int) * (size_t)size),
      *rbytes = malloc(sizeof(int) * (size_t)size);
  MPI_Datatype type = MPI_INT, *stypes = malloc(sizeof(MPI_Datatype) * (size_t)size),
               *rtypes = malloc(sizeof(MPI_Datatype) * (size_t)size);
  if (c->gapped) {
    MPI_Type_create_resized(MPI_INT, 0, GAP * sizeof(int), &type);
    MPI_Type_commit(&type);
  }
  for (int i = 0; i < size; ++i) {
    counts[i] = block_of(c, i);
    sdispls[i] = rdispls[i] = i * c->count;
    sbytes[i] = i * c->count * (int)sizeof(int);
    rbytes[i] = sbytes[i] * stride(c);
    stypes[i] = MPI_INT;
    rtypes[i] = type;
  }
  const void* from = c->in_place ? MPI_IN_PLACE : c->send;
  MPI_Request* r = &c->request;
  const int n = c->count;
  switch (c->kind) {
    case ALLTOALL: MPI_Ialltoall(from, n, MPI_INT, c->receive, n, type, comm, r); break;
    case ALLTOALLV:
      MPI_Ialltoallv(c->send, counts, sdispls, MPI_INT, c->receive, counts, rdispls, type, comm, r);
      break;
    case ALLTOALLW:
      MPI_Ialltoallw(c->send, counts, sbytes, stypes, c->receive, counts, rbytes, rtypes, comm, r);
      break;
    case ALLGATHER: MPI_Iallgather(from, n, MPI_INT, c->receive, n, type, comm, r); break;
    case BCAST:
      if (is_root(c)) MPI_Ibcast(c->send, n, MPI_INT, c->root, comm, r);
      else MPI_Ibcast(c->receive, n, type, c->root, comm, r);
      break;
    case GATHER: MPI_Igather(from, n, MPI_INT, c->receive, n, type, c->root, comm, r); break;
    case SCATTER: MPI_Iscatter(c->send, n, MPI_INT, c->receive, n, type, c->root, comm, r); break;
    case REDUCE: MPI_Ireduce(from, c->receive, n, MPI_INT, MPI_SUM, c->root, comm, r); break;
    case ALLREDUCE: MPI_Iallreduce(from, c->receive, n, MPI_INT, MPI_SUM, comm, r); break;
    case REDUCE_SCATTER: MPI_Ireduce_scatter_block(from, c->receive, n, MPI_INT, MPI_SUM, comm, r); break;
    case ALLGATHERV:
      MPI_Iallgatherv(from, counts[rank], MPI_INT, c->receive, counts, rdispls, type, comm, r);
      break;
    case REDUCE_SCATTER_OF: MPI_Ireduce_scatter(from, c->receive, counts, MPI_INT, MPI_SUM, comm, r); break;
    default: MPI_Ibarrier(comm, r); break;
  }
  if (c->gapped) MPI_Type_free(&type);
  if (!ours()) return; /* MPI lets the library read the arrays to the end: they are leaked */
  for (int i = 0; i < size; ++i) counts[i] = sdispls[i] = rdispls[i] = sbytes[i] = rbytes[i] = -1;
  free(counts), free(sdispls), free(rdispls), free(sbytes), free(rbytes), free(stypes), free(rtypes);
}

static int expected(const Call* c, int block, int k) {
  switch (c->kind) {
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW: return value(block, rank, k, c->seed);
    case ALLGATHER:
    case ALLGATHERV:
    case GATHER: return value(block, 0, k, c->seed);
    case BCAST: return value(c->root, 0, k, c->seed);
    case SCATTER: return value(c->root, rank, k, c->seed);
    case REDUCE_SCATTER: return total(c, rank, k);
    case REDUCE_SCATTER_OF: {
      const int at = rank * c->count - (rank > 0) + k;
      return total(c, at / c->count, at % c->count);
    }
    default: return total(c, 0, k);
  }
}

/* The result, the gaps in it, and what was sent. */
static void check(Call* c, const char* what) {
  const int s = stride(c);
  int right = 1;
  for (int block = 0; block < c->received; ++block)
    for (int k = 0; k < c->count; ++k) {
      const int* at = c->receive + ((long)block * c->count + k) * s;
      right &= *at == (k < arrives_from(c, block) ? expected(c, block, k) : GUARD);
      for (int gap = 1; gap < s; ++gap) right &= at[gap] == GUARD;
    }
  for (long peer = 0; peer < c->sent; ++peer)
    for (int k = 0; k < c->count; ++k) right &= c->send[peer * c->count + k] == mine(c, (int)peer, k);
  judge(right && c->request == MPI_REQUEST_NULL, c, what);
  free(c->send);
  free(c->receive);
}

static void each(MPI_Comm comm) {
  const int counts[] = {1, 7, 3000};
  int seed = 0;
  for (int kind = 0; kind < KINDS; ++kind)
    for (int n = 0; n < 3; ++n)
      for (int form = 0; form < 4; ++form) {
        Call c = make(kind, counts[n], ++seed, form & 1, form & 2);
        start(&c, comm);
        MPI_Wait(&c.request, MPI_STATUS_IGNORE);
        check(&c, "each");
      }
}

/* Ways to complete them. The requests are in an order of this rank's own, with a receive from anybody among them. */
static void complete(int way, int n, MPI_Request* r) {
  int indices[OUTSTANDING + 1], index = 0, flag = 0, done = 0;
  static MPI_Status statuses[OUTSTANDING + 1];
  switch (way) {
    case 0: MPI_Waitall(n, r, MPI_STATUSES_IGNORE); break;
    case 1:
      for (int i = 0; i < n; ++i) MPI_Waitany(n, r, &index, &statuses[0]);
      break;
    case 2:
      while (done != MPI_UNDEFINED) MPI_Waitsome(n, r, &done, indices, statuses);
      break;
    case 3:
      while (!flag) MPI_Testall(n, r, &flag, statuses);
      break;
    case 4:
      while (index != MPI_UNDEFINED) do MPI_Testany(n, r, &index, &flag, &statuses[0]); while (!flag);
      break;
    case 5:
      while (done != MPI_UNDEFINED) MPI_Testsome(n, r, &done, indices, statuses);
      break;
    case 6:
      for (int i = n - 1; i >= 0; --i)
        for (flag = 0; !flag;) MPI_Test(&r[i], &flag, &statuses[0]);
      break;
    case 7:
      for (int i = 0; i < n; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(r[i], &flag, &statuses[0]);
        MPI_Wait(&r[i], &statuses[0]);
      }
      break;
    default:
      for (int i = n - 1; i >= 0; --i) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
  }
}

enum { WAYS = 9 };

static void outstanding(MPI_Comm comm, int way) {
  static Call calls[OUTSTANDING];
  MPI_Request requests[OUTSTANDING + 1];
  int order[OUTSTANDING], token = -1, sent = rank;
  for (int i = 0; i < OUTSTANDING; ++i) {
    calls[i] = make(i % KINDS, 1 + 13 * (i % 5), 100 * way + i, i % 2, i % 3 == 0);
    start(&calls[i], comm);
    order[i] = i;
  }
  for (int i = OUTSTANDING - 1; i > 0; --i) { /* another order on each rank */
    const int j = (int)((draw() + (unsigned)rank * 2654435761u) % (unsigned)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (int i = 0; i < OUTSTANDING; ++i) requests[i] = calls[order[i]].request;
  MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 77, comm, &requests[OUTSTANDING]);
  MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, 77, comm);
  complete(way, OUTSTANDING + 1, requests);
  for (int i = 0; i < OUTSTANDING; ++i) {
    calls[order[i]].request = requests[i];
    check(&calls[order[i]], "outstanding");
  }
  judge(token == (rank + size - 1) % size, &calls[0], "a message among them");
}

/* Rank 0 completes its call first, while the others are in a blocking call that waits for rank 0. */
static void held_up(MPI_Comm comm, int how) {
  Call c = make(how % 2 == 0 ? ALLTOALL : ALLREDUCE, 50, how, 0, 0);
  int token = 0;
  MPI_Comm made = MPI_COMM_NULL;
  start(&c, comm);
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

static void join(MPI_Comm comm) {
  int *to = calloc((size_t)size, sizeof(int)), *from = calloc((size_t)size, sizeof(int));
  for (int i = 0; i < 2; ++i) MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm);
  free(to);
  free(from);
}

/* Two communicators whose calls start in different orders on even and odd ranks, and that go before the calls are over. */
static void freed(void) {
  MPI_Comm comms[2];
  Call calls[2][20];
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]), join(comms[i]);
  for (int turn = 0; turn < 2; ++turn) {
    const int which = (turn + rank) % 2;
    for (int i = 0; i < 20; ++i) {
      calls[which][i] = make(i % KINDS, 5 + i, 1000 * which + i, 0, 0);
      start(&calls[which][i], comms[which]);
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

/* As of any request for which there is nothing to receive. */
static void status_is_empty(MPI_Comm comm) {
  Call c = make(ALLTOALL, 3, 1, 0, 0);
  MPI_Status status;
  int count = -1, cancelled = -1;
  start(&c, comm);
  MPI_Wait(&c.request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  judge(count == 0 && cancelled == 0, &c, "status");
  check(&c, "status");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  join(comm);
  each(comm);
  for (int way = 0; way < WAYS; ++way) outstanding(comm, way);
  for (int how = 0; how < 5; ++how) held_up(comm, how);
  if (ours()) status_is_empty(comm);
  freed();
  MPI_Comm_free(&comm);
  printf("rank %d: %ld checks, %ld failures\n", rank, checks, failures);
  MPI_Finalize();
  return failures != 0;
}
