// Nonblocking and persistent messages of derived types between two ranks: many at once, completed in every way, by
// several threads, and those of MPI_Neighbor_alltoallw and MPI_Ineighbor_alltoallw. Checks what arrives by plain loops
// over bytes.
#include "completing.h"
#include "typed_kinds.h"

enum { messages_at_once = 24, most_count = 400 };

/// A message of the many: memory of its own, and what is to be in it.
struct Slot {
  const struct Kind* kind;
  int count, derived;  // on which side: 1 the sender's, 2 the receiver's, 3 both
  long bytes, room;
  char *memory, *wanted, *sent, *plain;
};

static struct Slot outgoing[messages_at_once], incoming[messages_at_once];

static void make_slot(struct Slot* s, int number) {
  const int counts[] = {1, 7, 40, 200, most_count};
  s->kind = &kinds[number % 4];
  s->count = counts[number % 5];
  s->derived = 1 + number % 3;
  s->bytes = s->count * s->kind->size;
  s->room = bytes_before + s->count * s->kind->extent + bytes_behind;
  s->memory = allocate(s->room), s->wanted = allocate(s->room);
  s->sent = allocate(s->bytes), s->plain = allocate(s->bytes);
}

static void free_slot(struct Slot* s) { free(s->memory), free(s->wanted), free(s->sent), free(s->plain); }

/// What a rank sends as a number in a round.
static void fill_slot(struct Slot* s, int sender, int number, int round) {
  for (long i = 0; i < s->bytes; ++i) s->sent[i] = (char)(i * 7 + i / 251 + number * 3 + round * 5 + sender);
}

static int is_derived(const struct Slot* s, int side) { return (s->derived & side) != 0; }
static void* place(const struct Slot* s, int side) {
  return is_derived(s, side) ? origin(s->memory) : s->plain;
}
static int amount(const struct Slot* s, int side) { return is_derived(s, side) ? s->count : (int)s->bytes; }
static MPI_Datatype kind_of(const struct Slot* s, int side) {
  return is_derived(s, side) ? s->kind->type : MPI_BYTE;
}

static void prepare(int round) {
  for (int i = 0; i < messages_at_once; ++i) {
    struct Slot* const out = &outgoing[i];
    fill_slot(out, rank, i, round);
    memset(out->memory, 0x55, (size_t)out->room);
    scatter(out->kind, out->bytes, out->sent, origin(out->memory));
    memcpy(out->plain, out->sent, (size_t)out->bytes);
    memset(incoming[i].memory, 0x66, (size_t)incoming[i].room);
    memset(incoming[i].plain, 0x66, (size_t)incoming[i].bytes);
  }
}

static void check(int round, const char* what) {
  for (int i = 0; i < messages_at_once; ++i) {
    struct Slot* const in = &incoming[i];
    fill_slot(in, peer, i, round);
    if (!is_derived(in, 2)) {
      if (memcmp(in->plain, in->sent, (size_t)in->bytes) != 0)
        fail("%s: message %d has other bytes", what, i);
      continue;
    }
    memset(in->wanted, 0x66, (size_t)in->room);
    scatter(in->kind, in->bytes, in->sent, origin(in->wanted));
    if (memcmp(in->memory, in->wanted, (size_t)in->room) != 0)
      fail("%s: message %d of %s, %d elements, is wrong in round %d", what, i, in->kind->name, in->count,
           round);
  }
}

// --- many at once

static void begin_receive(int i, MPI_Request* request) {
  const struct Slot* const s = &incoming[i];
  const int from = i % 7 == 3 ? MPI_ANY_SOURCE : peer;
  MPI_Irecv(place(s, 2), amount(s, 2), kind_of(s, 2), from, i, MPI_COMM_WORLD, request);
}

static void begin_send(int i, MPI_Request* request) {
  const struct Slot* const s = &outgoing[i];
  if (i % 4 == 1) MPI_Issend(place(s, 1), amount(s, 1), kind_of(s, 1), peer, i, MPI_COMM_WORLD, request);
  else if (i % 8 == 2) MPI_Irsend(place(s, 1), amount(s, 1), kind_of(s, 1), peer, i, MPI_COMM_WORLD, request);
  else MPI_Isend(place(s, 1), amount(s, 1), kind_of(s, 1), peer, i, MPI_COMM_WORLD, request);
}

static void exchanges(void) {
  MPI_Request requests[2 * messages_at_once];
  int order[messages_at_once];
  for (int round = 0; round < rounds; ++round)
    for (int way = 0; way < WAYS; ++way) {
      prepare(round);
      shuffle(rank, messages_at_once, order);
      for (int i = 0; i < messages_at_once; ++i) begin_receive(order[i], &requests[order[i]]);
      MPI_Barrier(MPI_COMM_WORLD);  // for the ready ones
      shuffle(rank, messages_at_once, order);
      for (int i = 0; i < messages_at_once; ++i) begin_send(order[i], &requests[messages_at_once + i]);
      complete(way, 2 * messages_at_once, requests);
      for (int i = 0; i < 2 * messages_at_once; ++i)
        if (requests[i] != MPI_REQUEST_NULL) fail("way %d leaves a request", way);
      check(round, "exchange");
    }
}

static void make_persistent(MPI_Request* requests) {
  for (int i = 0; i < messages_at_once; ++i) {
    const struct Slot *const in = &incoming[i], *const out = &outgoing[i];
    MPI_Recv_init(place(in, 2), amount(in, 2), kind_of(in, 2), peer, i, MPI_COMM_WORLD, &requests[i]);
    int (*const makes[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {
        MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Send_init};
    makes[i % 4](place(out, 1), amount(out, 1), kind_of(out, 1), peer, i, MPI_COMM_WORLD,
                 &requests[messages_at_once + i]);
  }
}

static void persistent(void) {
  MPI_Request requests[2 * messages_at_once], kept[2 * messages_at_once];
  make_persistent(requests);
  memcpy(kept, requests, sizeof kept);
  for (int round = 0; round < rounds; ++round)
    for (int way = 0; way < WAYS; ++way) {
      prepare(round);
      if (way % 2 == 0) MPI_Startall(messages_at_once, requests);
      else
        for (int i = 0; i < messages_at_once; ++i) MPI_Start(&requests[i]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Startall(messages_at_once, requests + messages_at_once);
      complete(way, 2 * messages_at_once, requests);
      if (memcmp(kept, requests, sizeof kept) != 0) fail("way %d changes a persistent request", way);
      check(round, "persistent");
      for (int i = 0; i < 2 * messages_at_once; ++i) {
        int flag = 0, count = -1;
        MPI_Status status;
        MPI_Test(&requests[i], &flag, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        if (!flag || count != 0) fail("an inactive request says %d and %d bytes", flag, count);
      }
    }
  for (int i = 0; i < 2 * messages_at_once; ++i) MPI_Request_free(&requests[i]);
}

/// All of them between neighbors, in one call: the peer as often as there are messages.
static void between_neighbors(void) {
  int peers[messages_at_once], out_counts[messages_at_once], in_counts[messages_at_once];
  MPI_Aint out_at[messages_at_once], in_at[messages_at_once];
  MPI_Datatype out_types[messages_at_once], in_types[messages_at_once];
  for (int i = 0; i < messages_at_once; ++i) peers[i] = peer;
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, messages_at_once, peers, MPI_UNWEIGHTED, messages_at_once,
                                 peers, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  char* const base = outgoing[0].memory;
  for (int i = 0; i < messages_at_once; ++i) {
    out_at[i] = (char*)place(&outgoing[i], 1) - base, in_at[i] = (char*)place(&incoming[i], 2) - base;
    out_counts[i] = amount(&outgoing[i], 1), in_counts[i] = amount(&incoming[i], 2);
    out_types[i] = kind_of(&outgoing[i], 1), in_types[i] = kind_of(&incoming[i], 2);
  }
  for (int round = 0; round < rounds + rounds_of_few; ++round) {
    prepare(round);
    MPI_Neighbor_alltoallw(base, out_counts, out_at, out_types, base, in_counts, in_at, in_types, graph);
    check(round, "neighbors");
  }
  MPI_Comm_free(&graph);
}

/// Each in a call of its own, all of them under way at once, beside messages, completed in every way.
static void between_neighbors_at_once(void) {
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Request requests[messages_at_once];
  int out_counts[messages_at_once], in_counts[messages_at_once];
  MPI_Aint out_at[messages_at_once], in_at[messages_at_once];
  MPI_Datatype out_types[messages_at_once], in_types[messages_at_once];
  for (int way = 0; way < WAYS; ++way)
    for (int round = 0; round < rounds; ++round) {
      prepare(round);
      for (int i = 0; i < messages_at_once; ++i) {
        char *const out = outgoing[i].memory, *const in = incoming[i].memory;
        out_at[i] = (char*)place(&outgoing[i], 1) - out, in_at[i] = (char*)place(&incoming[i], 2) - in;
        out_counts[i] = amount(&outgoing[i], 1), in_counts[i] = amount(&incoming[i], 2);
        out_types[i] = kind_of(&outgoing[i], 1), in_types[i] = kind_of(&incoming[i], 2);
        MPI_Ineighbor_alltoallw(out, &out_counts[i], &out_at[i], &out_types[i], in, &in_counts[i], &in_at[i],
                                &in_types[i], graph, &requests[i]);
      }
      complete(way, messages_at_once, requests);
      check(round, "neighbors at once");
    }
  MPI_Comm_free(&graph);
}

// --- several threads, each with messages of its own

static void* thread_main(void* argument) {
  const int number = *(int*)argument;
  const struct Kind* kind = &kinds[number];
  const int count = 150;
  const long bytes = count * kind->size, room = bytes_before + count * kind->extent + 1024;
  char *out = malloc((size_t)room), *in = malloc((size_t)room);
  char *sent = malloc((size_t)bytes), *got = malloc((size_t)bytes);
  for (int round = 0; round < 100; ++round) {
    MPI_Request requests[2];
    for (long i = 0; i < bytes; ++i) sent[i] = (char)(i * 7 + round + number);
    scatter(kind, bytes, sent, origin(out));
    MPI_Irecv(origin(in), count, kind->type, peer, 20 + number, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(origin(out), count, kind->type, peer, 20 + number, MPI_COMM_WORLD, &requests[1]);
    if (round % 2 == 0) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    else
      for (int i = 0; i < 2; ++i)
        for (int flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    gather(kind, bytes, origin(in), got);
    if (memcmp(got, sent, (size_t)bytes) != 0) fail("thread %d: other bytes arrived", number);
  }
  free(out), free(in), free(sent), free(got);
  return NULL;
}

int main(int argc, char** argv) {
  const int level = begin(&argc, &argv);
  for (int i = 0; i < messages_at_once; ++i) make_slot(&outgoing[i], i), make_slot(&incoming[i], i);
  exchanges();
  persistent();
  between_neighbors();
  between_neighbors_at_once();
  if (level == MPI_THREAD_MULTIPLE) run_threads(thread_main);
  for (int i = 0; i < messages_at_once; ++i) free_slot(&outgoing[i]), free_slot(&incoming[i]);
  return end();
}
