/* Collectives of all kinds, in the three forms that MPI has for each. */
#ifndef COLLECTIVE_CALLS_H
#define COLLECTIVE_CALLS_H

#include "collective_data.h"

/* ---- Making and dropping ---- */

static int* ints(int count) { return calloc((size_t)count, sizeof(int)); }

static void make_arrays(Call* c) {
  const int n = size > NEIGHBORS ? size : NEIGHBORS;
  Arrays* a = &c->arrays;
  a->sent = ints(n), a->received = ints(n), a->sdispls = ints(n), a->rdispls = ints(n);
  a->sbytes = ints(n), a->rbytes = ints(n);
  a->sends = calloc((size_t)n, sizeof *a->sends), a->receives = calloc((size_t)n, sizeof *a->receives);
  a->stypes = calloc((size_t)n, sizeof *a->stypes), a->rtypes = calloc((size_t)n, sizeof *a->rtypes);
  for (int b = 0; b < (is_near(c) ? NEIGHBORS : size); ++b) {
    const int at = b * c->count;
    a->sent[b] = length(c, rank, target(c, b)) * maps[c->out].units;
    a->received[b] = length(c, source(c, b), rank) * maps[c->in].units;
    a->sdispls[b] = at * maps[c->out].units, a->rdispls[b] = at * maps[c->in].units;
    a->sends[b] = a->sbytes[b] = at * maps[c->out].extent * (int)sizeof(int);
    a->receives[b] = a->rbytes[b] = at * maps[c->in].extent * (int)sizeof(int);
    a->stypes[b] = c->out_type, a->rtypes[b] = c->in_type;
  }
}

/* The arrays and the types. Overwritten, so that nobody reads them unnoticed afterwards. */
static void let_go(Call* c) {
  Arrays* a = &c->arrays;
  for (int b = 0; b < size; ++b)
    a->sent[b] = a->received[b] = a->sdispls[b] = a->rdispls[b] = a->sbytes[b] = a->rbytes[b] = -1;
  free(a->sent), free(a->received), free(a->sdispls), free(a->rdispls), free(a->sbytes), free(a->rbytes);
  free(a->sends), free(a->receives), free(a->stypes), free(a->rtypes);
  if (is_derived(c->out)) MPI_Type_free(&c->out_type);
  if (is_derived(c->in)) MPI_Type_free(&c->in_type);
  c->is_bare = 1;
}

/* MPICH 4.0 reads the root's MPI_IN_PLACE in MPI_Reduce as an address, on 3, 5, 6 or 7 ranks. */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
enum { REDUCES_IN_PLACE = 0 };
#else
enum { REDUCES_IN_PLACE = 1 };
#endif

/* Not where the call is native, and that does not work. Of nonblocking and persistent all-to-alls in place Open MPI 5
 * hangs in MPI_Ialltoallw on 2 ranks, is wrong in MPI_Alltoallv_init on 13, and MPICH 5 fails to complete them among
 * other requests. */
static InPlace where_in_place(Kind kind, Form form) {
  return form != BLOCKING && rules[kind].lengths == BY_PAIR ? NOWHERE : rules[kind].in_place;
}

/* Not in place where the kind, or this rank's part in it, cannot be. */
static Call make(Kind kind, Form form, int count, int seed, int variant, int in_place) {
  Call c = {
      .kind = kind, .form = form, .count = count, .seed = seed, .variant = variant, .root = seed % size};
  c.folding = rules[kind].reduces ? &foldings[variant % FOLDINGS] : NULL;
  c.out = c.folding ? c.folding->placement : movements[variant % MOVEMENTS][0];
  c.in = c.folding ? c.folding->placement : movements[variant % MOVEMENTS][1];
  c.out_type = type_of(c.out), c.in_type = type_of(c.in);
  const InPlace where = where_in_place(kind, form);
  c.in_place = in_place && (kind != REDUCE || REDUCES_IN_PLACE) &&
               (where == EVERYWHERE || (where == AT_ROOT && is_root(&c)));
  c.sent = blocks_of(&c, rules[kind].sent);
  c.received = c.in_place && kind == SCATTER ? 0 : blocks_of(&c, rules[kind].received);
  c.send = guarded(room(&c, c.out));
  c.receive = guarded(room(&c, c.in));
  make_arrays(&c);
  fill(&c);
  return c;
}

/* Other data in the same place. */
static void renew(Call* c) {
  c->seed += 977; /* the root stays */
  fill(c);
}

static void drop(Call* c) {
  if (!c->is_bare) let_go(c);
  release(c->send);
  release(c->receive);
}

/* ---- The calls ---- */

/* Open MPI 4 has no persistent collectives. */
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
#define PERSIST(init, ...) MPI_ERR_UNSUPPORTED_OPERATION
#else
#define PERSIST(init, ...) init(__VA_ARGS__, MPI_INFO_NULL, &c->request)
#endif

/* The same arguments in all three forms. */
#define CALL(blocking, nonblocking, init, ...)                      \
  (c->form == BLOCKING      ? blocking(__VA_ARGS__)                 \
   : c->form == NONBLOCKING ? nonblocking(__VA_ARGS__, &c->request) \
                            : PERSIST(init, __VA_ARGS__))

/* Performs it, starts it, or makes its request. */
static int call(Call* c, MPI_Comm comm) {
  const Arrays* a = &c->arrays;
  const void* from = c->in_place && c->kind != SCATTER ? MPI_IN_PLACE : c->send;
  void* to = c->in_place && c->kind == SCATTER ? MPI_IN_PLACE : c->receive;
  const MPI_Datatype out = c->out_type, in = c->in_type;
  const MPI_Op op = c->folding ? c->folding->op : MPI_OP_NULL;
  const int n = c->count * maps[c->out].units, m = c->count * maps[c->in].units, root = c->root;
  switch (c->kind) {
    case ALLTOALL: return CALL(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, from, n, out, to, m, in, comm);
    case ALLTOALLV:
      return CALL(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, from, a->sent, a->sdispls, out, to,
                  a->received, a->rdispls, in, comm);
    case ALLTOALLW:
      return CALL(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, from, a->sent, a->sbytes, a->stypes, to,
                  a->received, a->rbytes, a->rtypes, comm);
    case ALLGATHER:
      return CALL(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, from, n, out, to, m, in, comm);
    case ALLGATHERV:
      return CALL(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, from, a->sent[0], out, to,
                  a->received, a->rdispls, in, comm);
    case BCAST:
      return is_root(c) ? CALL(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, c->send, n, out, root, comm)
                        : CALL(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, c->receive, m, in, root, comm);
    case GATHER: return CALL(MPI_Gather, MPI_Igather, MPI_Gather_init, from, n, out, to, m, in, root, comm);
    case SCATTER:
      return CALL(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, from, n, out, to, m, in, root, comm);
    case REDUCE: return CALL(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, from, to, n, out, op, root, comm);
    case ALLREDUCE:
      return CALL(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, from, to, n, out, op, comm);
    case REDUCE_SCATTER_BLOCK:
      return CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, from,
                  to, n, out, op, comm);
    case REDUCE_SCATTER:
      return CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, from, to, a->sent, out,
                  op, comm);
    case BARRIER: return CALL(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, comm);
    case NEIGHBOR_ALLTOALL:
      return CALL(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, from, n, out, to,
                  m, in, comm);
    case NEIGHBOR_ALLTOALLV:
      return CALL(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, from, a->sent,
                  a->sdispls, out, to, a->received, a->rdispls, in, comm);
    case NEIGHBOR_ALLTOALLW:
      return CALL(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, from, a->sent,
                  a->sends, a->stypes, to, a->received, a->receives, a->rtypes, comm);
    case NEIGHBOR_ALLGATHER:
      return CALL(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, from, n, out,
                  to, m, in, comm);
    case NEIGHBOR_ALLGATHERV:
      return CALL(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, from,
                  a->sent[0], out, to, a->received, a->rdispls, in, comm);
    default: return MPI_ERR_ARG;
  }
}

/* Whether Wherry performs it, though it is completed later. */
static int is_ours(const Call* c) {
  const int own_operation = c->folding != NULL && c->folding->own != NULL;
  return ours() && c->count > 0 && !own_operation;
}

/* The arrays and the types of a call of Wherry's go at once: it has read them. MPI lets a library read the arrays to
 * the end, and Open MPI 5 crashes when a type of its own calls goes. */
static int issue(Call* c, MPI_Comm comm) {
  const int code = call(c, comm);
  if (c->form == BLOCKING || is_ours(c)) let_go(c);
  return code;
}

/* Every rank sends to itself and the next two. */
static MPI_Comm ring(void) {
  int from[NEIGHBORS], to[NEIGHBORS];
  MPI_Comm made;
  for (int i = 0; i < NEIGHBORS; ++i)
    from[i] = (rank + 2 * size - steps[i]) % size, to[i] = (rank + steps[i]) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, NEIGHBORS, from, MPI_UNWEIGHTED, NEIGHBORS, to,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

/* These blocking calls enable the communicator. */
static void enable(MPI_Comm comm) {
  int *to = ints(size), *from = ints(size);
  for (int i = 0; i < 2; ++i) MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm);
  free(to);
  free(from);
}

/* The communicators on which the forms of collectives are checked: all ranks, and those of ring(). */
typedef struct {
  MPI_Comm all, graph;
} Communicators;

static inline Communicators begin_checks(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Communicators made = {.graph = ring()};
  MPI_Comm_dup(MPI_COMM_WORLD, &made.all);
  make_operations();
  enable(made.all);
  enable(made.graph);
  return made;
}

/* What the program ends with. */
static inline int end_checks(Communicators* made) {
  free_operations();
  MPI_Comm_free(&made->graph);
  MPI_Comm_free(&made->all);
  printf("rank %d: %ld checks, %ld failures\n", rank, checks, failures);
  MPI_Finalize();
  return failures != 0;
}

#endif
