/* What collectives of all kinds move on types of all kinds, and what must come out: computed here, from the ranks
 * alone. */
#ifndef COLLECTIVE_DATA_H
#define COLLECTIVE_DATA_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS } Form;

typedef enum {
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  ALLGATHER,
  ALLGATHERV,
  BCAST,
  GATHER,
  SCATTER,
  REDUCE,
  ALLREDUCE,
  REDUCE_SCATTER_BLOCK,
  REDUCE_SCATTER,
  BARRIER,
  ON_ANY, /* communicator so far; the others need neighbors */
  NEIGHBOR_ALLTOALL = ON_ANY,
  NEIGHBOR_ALLTOALLV,
  NEIGHBOR_ALLTOALLW,
  NEIGHBOR_ALLGATHER,
  NEIGHBOR_ALLGATHERV,
  KINDS
} Kind;

/* Which blocks a rank has. */
typedef enum { NONE, ONE, ALL, ONE_AT_ROOT, ALL_AT_ROOT, ONE_ELSEWHERE, NEAR } Blocks;
/* How long they are. */
typedef enum { EQUAL, BY_PAIR, BY_SOURCE, BUT_FIRST } Lengths;
typedef enum { NOWHERE, EVERYWHERE, AT_ROOT } InPlace;

static const struct {
  Blocks sent, received;
  int addressed; /* what is sent differs by where it goes */
  int reduces;
  Lengths lengths;
  InPlace in_place;
} rules[KINDS] = {
    [ALLTOALL] = {ALL, ALL, 1, 0, EQUAL, EVERYWHERE},
    [ALLTOALLV] = {ALL, ALL, 1, 0, BY_PAIR, EVERYWHERE},
    [ALLTOALLW] = {ALL, ALL, 1, 0, BY_PAIR, EVERYWHERE},
    [ALLGATHER] = {ONE, ALL, 0, 0, EQUAL, EVERYWHERE},
    [ALLGATHERV] = {ONE, ALL, 0, 0, BY_SOURCE, EVERYWHERE},
    [BCAST] = {ONE_AT_ROOT, ONE_ELSEWHERE, 0, 0, EQUAL, NOWHERE},
    [GATHER] = {ONE, ALL_AT_ROOT, 0, 0, EQUAL, AT_ROOT},
    [SCATTER] = {ALL_AT_ROOT, ONE, 1, 0, EQUAL, AT_ROOT},
    [REDUCE] = {ONE, ONE_AT_ROOT, 0, 1, EQUAL, AT_ROOT},
    [ALLREDUCE] = {ONE, ONE, 0, 1, EQUAL, EVERYWHERE},
    [REDUCE_SCATTER_BLOCK] = {ALL, ONE, 1, 1, EQUAL, EVERYWHERE},
    [REDUCE_SCATTER] = {ALL, ONE, 1, 1, BUT_FIRST, EVERYWHERE},
    [BARRIER] = {NONE, NONE, 0, 0, EQUAL, NOWHERE},
    [NEIGHBOR_ALLTOALL] = {NEAR, NEAR, 1, 0, EQUAL, NOWHERE},
    [NEIGHBOR_ALLTOALLV] = {NEAR, NEAR, 1, 0, BY_PAIR, NOWHERE},
    [NEIGHBOR_ALLTOALLW] = {NEAR, NEAR, 1, 0, BY_PAIR, NOWHERE},
    [NEIGHBOR_ALLGATHER] = {ONE, NEAR, 0, 0, EQUAL, NOWHERE},
    [NEIGHBOR_ALLGATHERV] = {ONE, NEAR, 0, 0, BY_SOURCE, NOWHERE},
};

/* What is sent as, and received as; reductions have foldings instead. */
enum { MOVEMENTS = 6 };
static const Placement movements[MOVEMENTS][2] = {{PLAIN, PLAIN},        {PLAIN, RESIZED},
                                                  {CONTIGUOUS, VECTOR},  {VECTOR, STRUCT},
                                                  {RESIZED, CONTIGUOUS}, {STRUCT, RESIZED}};

static int variants(Kind kind) {
  if (kind == BARRIER) return 1;
  if (!rules[kind].reduces) return MOVEMENTS;
  /* MPICH 5 writes beyond memory of its own where it scatters what was reduced and has gaps, on 2 ranks. */
  return rules[kind].sent == ALL ? FOLDINGS_WITHOUT_GAPS : FOLDINGS;
}

/* What the irregular kinds take besides. */
typedef struct {
  int *sent, *received, *sdispls, *rdispls, *sbytes, *rbytes;
  MPI_Aint *sends, *receives;
  MPI_Datatype *stypes, *rtypes;
} Arrays;

/* One call: what it needs until it has been checked. */
typedef struct {
  Kind kind;
  Form form;
  int count, seed, variant, in_place, root;
  Placement out, in;
  MPI_Datatype out_type, in_type;
  const Folding* folding;
  int sent, received; /* blocks */
  int *send, *receive;
  Arrays arrays;
  int is_bare; /* the arrays and the types have gone */
  MPI_Request request;
} Call;

static int rank, size;
static long checks, failures;

static void validate(int right, const Call* c, const char* what) {
  ++checks;
  if (right) return;
  ++failures;
  fprintf(stderr,
          "rank %d of %d: %s: kind %d, form %d, %d elements, root %d, variant %d, in place %d, seed %d\n",
          rank, size, what, c->kind, c->form, c->count, c->root, c->variant, c->in_place, c->seed);
}

/* Whether Wherry performs calls that do not block: it promises more than some libraries keep. */
static int ours(void) { return getenv("TEST_WHERRY_PERFORMS") != NULL && size > 1; }

/* ---- Who has what ---- */

enum { NEIGHBORS = 3 };
static const int steps[NEIGHBORS] = {1, 2, 0};

static int is_root(const Call* c) { return rank == c->root; }
static int is_near(const Call* c) { return c->kind >= ON_ANY; }

static int target(const Call* c, int block) { return is_near(c) ? (rank + steps[block]) % size : block; }

static int source(const Call* c, int block) {
  if (is_near(c)) return (rank + 2 * size - steps[block]) % size;
  const Blocks sent = rules[c->kind].sent;
  return sent == ONE_AT_ROOT || sent == ALL_AT_ROOT ? c->root : block;
}

static int blocks_of(const Call* c, Blocks blocks) {
  switch (blocks) {
    case NONE: return 0;
    case ONE: return 1;
    case ALL: return size;
    case ONE_AT_ROOT: return is_root(c);
    case ALL_AT_ROOT: return is_root(c) ? size : 0;
    case ONE_ELSEWHERE: return !is_root(c);
    default: return NEIGHBORS;
  }
}

/* Elements of what goes from one rank to another. */
static int length(const Call* c, int from, int to) {
  switch (rules[c->kind].lengths) {
    case BY_PAIR: return c->count * ((from + to) % 3) / 2;
    case BY_SOURCE: return c->count * (from % 3) / 2;
    case BUT_FIRST: return c->count - (c->count > 0 && to == 0);
    default: return c->count;
  }
}

static int value(int from, int to, int k, int seed) { return from * 1000003 + to * 8191 + k * 31 + seed * 7; }

/* Element k of what a rank has, for one rank or for all. */
static void given(const Call* c, int from, int to, int k, int element[INTS]) {
  for (int i = 0; i < INTS; ++i)
    element[i] = value(from, rules[c->kind].addressed ? to : 0, k * INTS + i, c->seed);
}

static void folded(const Call* c, int block, int k, int element[INTS]) {
  int next[INTS];
  given(c, 0, block, k, element);
  for (int from = 1; from < size; ++from) {
    given(c, from, block, k, next);
    c->folding->fold(element, next);
  }
}

/* Element k of block `block` of what comes out here. */
static void result(const Call* c, int block, int k, int element[INTS]) {
  if (!rules[c->kind].reduces) {
    given(c, source(c, block), rank, k, element);
  } else if (c->kind == REDUCE_SCATTER) { /* its blocks are not those of what is reduced */
    const int at = rank * c->count - (rank > 0) + k;
    folded(c, at / c->count, at % c->count, element);
  } else {
    folded(c, rank, k, element);
  }
}

/* ---- Memory: images of what must be there before and after ---- */

enum { GUARD = 0x5A5A5A5A, EDGE = 16 }; /* ints before and behind that nobody may touch */

static size_t room(const Call* c, Placement placement) {
  const int most = size > NEIGHBORS ? size : NEIGHBORS;
  return (size_t)most * (size_t)c->count * (size_t)maps[placement].extent + 2 * EDGE;
}

static int* guarded(size_t ints) {
  int* memory = malloc(ints * sizeof(int));
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  for (size_t i = 0; i < ints; ++i) memory[i] = GUARD;
  return memory + EDGE;
}

static void release(int* memory) { free(memory - EDGE); }

/* What this rank sends, from block `first` on. Blocks lie `count` elements apart. */
static void put_sent(const Call* c, Placement placement, int* memory, int first) {
  int element[INTS];
  for (int b = 0; b < c->sent; ++b) {
    const int elements = rules[c->kind].lengths == BUT_FIRST ? c->count : length(c, rank, target(c, b));
    for (int k = 0; k < elements; ++k) {
      given(c, rank, target(c, b), k, element);
      put(placement, memory, (long)(first + b) * c->count + k, element);
    }
  }
}

static void put_received(const Call* c, int* memory) {
  int element[INTS];
  for (int b = 0; b < c->received; ++b)
    for (int k = 0; k < length(c, source(c, b), rank); ++k) {
      result(c, b, k, element);
      put(c->in, memory, (long)b * c->count + k, element);
    }
}

/* In place, this rank's data lies where the result will be. */
static void put_in_place(const Call* c, int* memory) {
  const int among_all = rules[c->kind].sent == ONE && !rules[c->kind].reduces;
  if (c->in_place && c->kind != SCATTER) put_sent(c, c->in, memory, among_all ? rank : 0);
}

/* Of what is reduced and scattered in place, the rest is the library's to use. */
static void forgive(const Call* c, int* image) {
  if (!c->in_place || !rules[c->kind].reduces || rules[c->kind].sent != ALL) return;
  const size_t extent = (size_t)maps[c->in].extent, result_end = (size_t)length(c, rank, rank) * extent;
  const size_t end = (size_t)c->sent * (size_t)c->count * extent;
  memcpy(image + result_end, c->receive + result_end, (end - result_end) * sizeof(int));
}

/* What there is before the call. */
static void fill(Call* c) {
  for (size_t i = 0; i < room(c, c->in); ++i) c->receive[(long)i - EDGE] = GUARD;
  put_sent(c, c->out, c->send, 0);
  put_in_place(c, c->receive);
}

static int is_same(const int* a, const int* b, size_t ints) {
  return memcmp(a - EDGE, b - EDGE, ints * sizeof(int)) == 0;
}

/* All of both buffers, to the last int. */
static int is_right(const Call* c) {
  int *sent = guarded(room(c, c->out)), *received = guarded(room(c, c->in));
  put_sent(c, c->out, sent, 0);
  put_in_place(c, received);
  put_received(c, received);
  forgive(c, received);
  const int right = is_same(c->send, sent, room(c, c->out)) && is_same(c->receive, received, room(c, c->in));
  release(sent);
  release(received);
  return right;
}

#endif
