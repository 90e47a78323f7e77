/* For tests of collectives that are started and completed later: calls of all kinds, with results known by arithmetic. */
#ifndef STARTED_CALLS_H
#define STARTED_CALLS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  ALLGATHER,
  BCAST,
  GATHER,
  SCATTER,
  REDUCE,
  ALLREDUCE,
  REDUCE_SCATTER,
  ALLGATHERV,
  REDUCE_SCATTER_OF,
  BARRIER,
  KINDS
};
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
static int arrives_from(const Call* c, int peer) {
  return block_of(c, c->kind == REDUCE_SCATTER_OF ? rank : peer);
}

static int stride(const Call* c) { return c->gapped ? GAP : 1; }

static int is_root(const Call* c) { return rank == c->root; }

static void judge(int right, const Call* c, const char* what) {
  ++checks;
  if (right) return;
  ++failures;
  fprintf(stderr, "rank %d of %d: %s: kind %d, %d elements, root %d, gapped %d, in place %d, seed %d\n", rank,
          size, what, c->kind, c->count, c->root, c->gapped, c->in_place, c->seed);
}

/* What this rank has for `peer` before, element k. */
static int mine(const Call* c, int peer, int k) { return value(rank, peer, k, c->seed); }

static int total(const Call* c, int to, int k) {
  int sum = 0;
  for (int from = 0; from < size; ++from) sum += value(from, to, k, c->seed);
  return sum;
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

/* What there is before the call. */
static void fill(Call* c) {
  const size_t ints = (size_t)size * (size_t)c->count * GAP + 1;
  for (size_t i = 0; i < ints; ++i) c->receive[i] = GUARD;
  for (long peer = 0; peer < c->sent; ++peer)
    for (int k = 0; k < c->count; ++k) c->send[peer * c->count + k] = mine(c, (int)peer, k);
  if (c->in_place) put_in_place(c);
}

/* Blocks of the two buffers: all ranks', one, or none. */
static void lay_out(Call* c) {
  const int all = size, root = is_root(c);
  const int sent[KINDS] = {all, all, all, 1, root, 1, root ? all : 0, 1, 1, all, 1, all, 0};
  const int received[KINDS] = {all, all, all, all, !root, root ? all : 0, 1, root, 1, 1, all, 1, 0};
  c->sent = sent[c->kind];
  c->received = received[c->kind];
  c->send = malloc(sizeof(int) * ((size_t)c->sent * (size_t)c->count + 1));
  c->receive = malloc(sizeof(int) * ((size_t)size * (size_t)c->count * GAP + 1));
  fill(c);
}

/* Not every call may be in place or gapped here. */
static Call make(int kind, int count, int seed, int gapped, int in_place) {
  Call c = {.kind = kind, .count = count, .seed = seed, .root = seed % size};
  const int reduces =
      kind == REDUCE || kind == ALLREDUCE || kind == REDUCE_SCATTER || kind == REDUCE_SCATTER_OF;
  c.gapped = gapped && !reduces;
  c.in_place = in_place && kind != BCAST && kind != SCATTER && kind != ALLTOALLV && kind != ALLTOALLW &&
               kind != REDUCE_SCATTER_OF && kind != BARRIER &&
               (kind != GATHER && kind != REDUCE ? 1 : is_root(&c));
  lay_out(&c);
  return c;
}

/* Whether Wherry performs the calls: it promises more than some libraries keep. */
static int ours(void) { return getenv("TEST_WHERRY_PERFORMS") != NULL && size > 1; }

/* What the irregular kinds take besides. */
typedef struct {
  int *counts, *sdispls, *rdispls, *sbytes, *rbytes;
  MPI_Datatype type, *stypes, *rtypes; /* type: of what is received */
} Arrays;

static Arrays make_arrays(const Call* c) {
  const size_t ints = sizeof(int) * (size_t)size, types = sizeof(MPI_Datatype) * (size_t)size;
  Arrays a = {malloc(ints), malloc(ints), malloc(ints),  malloc(ints),
              malloc(ints), MPI_INT,      malloc(types), malloc(types)};
  if (c->gapped) {
    MPI_Type_create_resized(MPI_INT, 0, GAP * sizeof(int), &a.type);
    MPI_Type_commit(&a.type);
  }
  for (int i = 0; i < size; ++i) {
    a.counts[i] = block_of(c, i);
    a.sdispls[i] = a.rdispls[i] = i * c->count;
    a.sbytes[i] = i * c->count * (int)sizeof(int);
    a.rbytes[i] = a.sbytes[i] * stride(c);
    a.stypes[i] = MPI_INT;
    a.rtypes[i] = a.type;
  }
  return a;
}

/* The arrays and the types go at once: the call has read them. */
static void drop_arrays(const Call* c, Arrays* a) {
  if (c->gapped) MPI_Type_free(&a->type);
  if (!ours()) return; /* MPI lets the library read the arrays to the end: they are leaked */
  for (int i = 0; i < size; ++i)
    a->counts[i] = a->sdispls[i] = a->rdispls[i] = a->sbytes[i] = a->rbytes[i] = -1;
  free(a->counts), free(a->sdispls), free(a->rdispls), free(a->sbytes), free(a->rbytes), free(a->stypes),
      free(a->rtypes);
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
static int is_right(const Call* c) {
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
  return right;
}

static void drop(Call* c) {
  free(c->send);
  free(c->receive);
}

/* 0 to n - 1 in an order of this rank's own. */
static void shuffle(int n, int order[]) {
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int i = n - 1; i > 0; --i) {
    const int j = (int)((draw() + (unsigned)rank * 2654435761u) % (unsigned)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
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
      while (index != MPI_UNDEFINED) do
          MPI_Testany(n, r, &index, &flag, &statuses[0]);
        while (!flag);
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

#endif
