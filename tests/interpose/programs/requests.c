// Nonblocking and persistent messages of derived types between two ranks: many at once, completed in every way; what MPI says of them,
// parts, truncation, cancelled and abandoned ones, wrong calls. Checks what arrives by plain loops over bytes.
#include <pthread.h>

#include "completing.h"
#include "error_classes.h"
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
static void* place(const struct Slot* s, int side) { return is_derived(s, side) ? origin(s->memory) : s->plain; }
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
      if (memcmp(in->plain, in->sent, (size_t)in->bytes) != 0) fail("%s: message %d has other bytes", what, i);
      continue;
    }
    memset(in->wanted, 0x66, (size_t)in->room);
    scatter(in->kind, in->bytes, in->sent, origin(in->wanted));
    if (memcmp(in->memory, in->wanted, (size_t)in->room) != 0)
      fail("%s: message %d of %s, %d elements, is wrong in round %d", what, i, in->kind->name, in->count, round);
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
  if (i % 4 == 1)
    MPI_Issend(place(s, 1), amount(s, 1), kind_of(s, 1), peer, i, MPI_COMM_WORLD, request);
  else if (i % 8 == 2)
    MPI_Irsend(place(s, 1), amount(s, 1), kind_of(s, 1), peer, i, MPI_COMM_WORLD, request);
  else
    MPI_Isend(place(s, 1), amount(s, 1), kind_of(s, 1), peer, i, MPI_COMM_WORLD, request);
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
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, messages_at_once, peers, MPI_UNWEIGHTED, messages_at_once, peers,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
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

// --- what MPI says of them

/// Whether the data are in `room` once MPI has told that all requests are over, before they are freed.
static void look_at_all(MPI_Request requests[2], char* room, MPI_Status statuses[2]) {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  const size_t bytes = (size_t)(300 * five.extent);
  char* found = malloc(bytes);
  int flag = 0;
  while (!flag) MPI_Request_get_status_all(2, requests, &flag, statuses);
  memcpy(found, room, bytes);
  MPI_Waitall(2, requests, statuses);
  memcpy(room, found, bytes);
  free(found);
#else
  (void)room;
  MPI_Waitall(2, requests, statuses);
#endif
}

/// Receives with room for 300 elements of five members, in several ways; the status must say what came.
static void take(int way, char* room, int from, MPI_Comm comm, MPI_Status* status) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  MPI_Message found;
  int index = 0, flag = 0, done = 0, indices[2];
  if (way == 5) {
    while (!flag) MPI_Improbe(from, 3, comm, &flag, &found, status);
    MPI_Imrecv(room, 300, five.type, &found, &requests[1]);
  } else if (way == 6) {
    MPI_Recv_init(room, 300, five.type, from, 3, comm, &requests[1]);
    MPI_Start(&requests[1]);
  } else {
    MPI_Irecv(room, 300, five.type, from, 3, comm, &requests[1]);
  }
  switch (way) {
    case 0: MPI_Waitall(2, requests, statuses), *status = statuses[1]; return;
    case 1: MPI_Waitany(2, requests, &index, status); return;
    case 2: MPI_Waitsome(2, requests, &done, indices, statuses), *status = statuses[0]; return;
    case 3:
      while (!flag) MPI_Request_get_status(requests[1], &flag, status);
      MPI_Request_get_status(requests[1], &flag, status);  // again
      MPI_Wait(&requests[1], status);
      return;
    case 4:
      while (!flag) MPI_Test(&requests[1], &flag, status);
      return;
    case 5: MPI_Wait(&requests[1], status); return;
    case 7: look_at_all(requests, room, statuses), *status = statuses[1]; return;
    default:
      while (!flag) MPI_Request_get_status(requests[1], &flag, status);
      MPI_Wait(&requests[1], status);
      MPI_Request_free(&requests[1]);
  }
}

static void statuses(void) {
  for (int whole = 40; whole < 200; whole += 53)
    for (int way = 0; way < 8; ++way)
      for (int round = 0; round < rounds_of_few + 2; ++round) {
        const int lengths[] = {whole, 1};
        const MPI_Aint at[] = {0, whole * five.extent};
        const MPI_Datatype types[] = {five.type, three.type};
        MPI_Datatype part;
        MPI_Type_create_struct(2, lengths, at, types, &part);
        MPI_Type_commit(&part);
        use(&five, 300);
        fill(0, round);
        memset(received_memory, 0x66, (size_t)in_use);
        if (rank == 0) {
          MPI_Request request;
          MPI_Isend(origin(sent_memory), 1, part, 1, 3, MPI_COMM_WORLD, &request);
          MPI_Type_free(&part);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
          continue;
        }
        MPI_Status status;
        take(way, origin(received_memory), 0, MPI_COMM_WORLD, &status);
        const struct Side in = {&five, 1, whole, whole * five.size + three.size};
        gather(&five, in.bytes, origin(sent_memory), dense);
        compare(&in, in.bytes, dense, "three of five members");
        tell_status("three of five members", &status);
        MPI_Type_free(&part);
      }
}

// --- truncated, cancelled, abandoned

static void check_outside(int room, const char* what) {
  const char* const memory = origin(received_memory);
  for (long e = 0; e < 200; ++e)
    for (long i = 4; i < 8; ++i)
      if (memory[e * five.extent + i] != 0x66) fail("%s: wrote between the members", what);
  for (long i = room * five.extent; i < in_use - bytes_before; ++i)
    if (memory[i] != 0x66) fail("%s: wrote behind the elements", what);
}

/// One truncated message and one that is not, completed by one call.
static void truncations(MPI_Comm comm, const char* how) {
  for (int room = 40; room < 200; room += 79)
    for (int round = 0; round < rounds_of_few + 2; ++round) {
      MPI_Request requests[2];
      MPI_Status statuses[2];
      use(&five, 200);
      memset(received_memory, 0x66, (size_t)in_use);
      fill(0, round);
      if (rank == 0) {
        MPI_Isend(origin(sent_memory), 200, five.type, 1, 3, comm, &requests[0]);
        MPI_Isend(origin(sent_memory), 200, five.type, 1, 4, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        continue;
      }
      char* const other = allocate(200 * five.extent);
      MPI_Irecv(origin(received_memory), room, five.type, 0, 3, comm, &requests[0]);
      MPI_Irecv(other, 200, five.type, 0, 4, comm, &requests[1]);
      const int code = MPI_Waitall(2, requests, statuses);
      tell("%s: %s\n", how, code == MPI_SUCCESS ? "success" : "an error");
      if (code != MPI_SUCCESS) tell("of the first: %s\n", class_of(statuses[0].MPI_ERROR));
      // An error may end the call before the others are over.
      if (requests[1] != MPI_REQUEST_NULL) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      handled = 0;
      check_outside(room, how);
      gather(&five, 200 * five.size, origin(sent_memory), dense);
      gather(&five, 200 * five.size, other, packed);
      if (memcmp(dense, packed, (size_t)(200 * five.size)) != 0) fail("%s: the other message is wrong", how);
      free(other);
    }
}

static void cancelled(void) {
  use(&five, 200);
  for (int round = 0; round < rounds_of_few + 2; ++round)
    for (int is_persistent = 0; is_persistent < 2; ++is_persistent) {
      MPI_Request request;
      MPI_Status status;
      int flag = 0;
      memset(received_memory, 0x66, (size_t)in_use);
      if (is_persistent) {
        MPI_Recv_init(origin(received_memory), 200, five.type, peer, 99, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
      } else {
        MPI_Irecv(origin(received_memory), 200, five.type, peer, 99, MPI_COMM_WORLD, &request);
      }
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      if (is_persistent) MPI_Request_free(&request);
      if (!flag || request != MPI_REQUEST_NULL) fail("a receive was not cancelled");
      for (long i = 0; i < in_use; ++i)
        if (received_memory[i] != 0x66) fail("a cancelled receive wrote something");
    }
}

/// Sends that the program frees while they are under way, and then receives. The last of all: it ends receives by Wherry.
static void abandoned(void) {
  const struct Side side = {&five, 1, 200, 200 * five.size};
  use(&five, 200);
  for (int receives = 0; receives < 2; ++receives)
    for (int round = 0; round < rounds_of_few + 2; ++round) {
      MPI_Request request, other;
      fill(0, round);
      memset(received_memory, 0x66, (size_t)in_use);
      if (rank == 0) {
        if (receives) {
          MPI_Recv(NULL, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          MPI_Ssend(origin(sent_memory), 200, five.type, 1, 3, MPI_COMM_WORLD);
        } else {
          MPI_Isend(origin(sent_memory), 200, five.type, 1, 3, MPI_COMM_WORLD, &request);
          MPI_Request_free(&request);
          MPI_Send_init(origin(sent_memory), 200, five.type, 1, 4, MPI_COMM_WORLD, &other);
          MPI_Start(&other);
          MPI_Request_free(&other);
          if (request != MPI_REQUEST_NULL || other != MPI_REQUEST_NULL) fail("a freed request is not null");
        }
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        continue;
      }
      MPI_Irecv(origin(received_memory), 200, five.type, 0, 3, MPI_COMM_WORLD, &request);
      gather(&five, side.bytes, origin(sent_memory), dense);
      if (receives) {
        MPI_Request_free(&request);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
        // Nothing tells the program when it has come, but that it has: as long as that takes, it calls MPI.
        const char* const last = origin(received_memory) + 199 * five.extent + 40;
        char untouched[12];
        memset(untouched, 0x66, sizeof untouched);
        for (int flag = 0; memcmp(last, untouched, sizeof untouched) == 0;)
          MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        compare(&side, side.bytes, dense, "an abandoned send");
        memset(received_memory, 0x66, (size_t)in_use);
        MPI_Recv(origin(received_memory), 200, five.type, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      compare(&side, side.bytes, dense, "an abandoned message");
      MPI_Send(NULL, 0, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
    }
}

// --- wrong calls

static void tell_code(const char* what, int code) {
  tell("%s: %s, handler called %d times\n", what, class_of(code), handled);
  handled = 0;
}

static void wrong_calls(MPI_Comm comm, const char* how) {
  char *const memory = origin(sent_memory), *const room = origin(received_memory);
  tell("%s\n", how);
  for (int round = 0; round < rounds_of_few; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    tell_code("send to no rank", MPI_Isend(memory, 200, five.type, 99, 3, comm, &request));
    tell_code("send with a negative tag", MPI_Issend(memory, 200, five.type, peer, -99, comm, &request));
    tell_code("send a negative count", MPI_Isend(memory, -1, five.type, peer, 3, comm, &request));
    tell_code("send no type", MPI_Isend(memory, 200, MPI_DATATYPE_NULL, peer, 3, comm, &request));
    tell_code("receive from no rank", MPI_Irecv(room, 200, five.type, 99, 3, comm, &request));
    tell_code("receive a negative count", MPI_Irecv(room, -1, five.type, peer, 3, comm, &request));
    tell_code("receive no type", MPI_Irecv(room, 200, MPI_DATATYPE_NULL, peer, 3, comm, &request));
    tell_code("make for no rank", MPI_Send_init(memory, 200, five.type, 99, 3, comm, &request));
    tell_code("make from no rank", MPI_Recv_init(room, 200, five.type, 99, 3, comm, &request));
    MPI_Datatype uncommitted;
    MPI_Type_vector(300, 1, 2, MPI_DOUBLE, &uncommitted);
    for (int i = 0; i < 4; ++i) {
      tell_code("send a type that is not committed", MPI_Isend(memory, 1, uncommitted, peer, 3, comm, &request));
      tell_code("receive it", MPI_Irecv(room, 1, uncommitted, peer, 3, comm, &request));
    }
    MPI_Type_free(&uncommitted);
    if (request != MPI_REQUEST_NULL) fail("a call that failed has made a request");
  }
}

/// What a call on several requests has met goes to the handler of MPI_COMM_WORLD in some libraries.
static void handle_by(MPI_Comm comm, MPI_Errhandler errhandler) {
  MPI_Comm_set_errhandler(comm, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
}

static void errors(void) {
  use(&five, 200);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  handle_by(comm, MPI_ERRORS_RETURN);
  truncations(comm, "truncated, errors return");
  wrong_calls(comm, "errors return");
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(handler, &own);
  handle_by(comm, own);
  truncations(comm, "truncated, own handler");
  wrong_calls(comm, "own handler");
  handle_by(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&comm);
}

// --- several threads, each with messages of its own

static void* thread_main(void* argument) {
  const int number = *(int*)argument;
  const struct Kind* kind = &kinds[number];
  const int count = 150;
  const long bytes = count * kind->size, room = bytes_before + count * kind->extent + 1024;
  char *out = malloc((size_t)room), *in = malloc((size_t)room), *sent = malloc((size_t)bytes), *got = malloc((size_t)bytes);
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

static void threads(void) {
  pthread_t thread[4];
  int number[4];
  for (int t = 0; t < 4; ++t) number[t] = t, pthread_create(&thread[t], NULL, thread_main, &number[t]);
  for (int t = 0; t < 4; ++t) pthread_join(thread[t], NULL);
}

int main(int argc, char** argv) {
  const int level = begin(&argc, &argv);
  for (int i = 0; i < messages_at_once; ++i) make_slot(&outgoing[i], i), make_slot(&incoming[i], i);
  exchanges();
  persistent();
  between_neighbors();
  statuses();
  errors();
  cancelled();
  if (level == MPI_THREAD_MULTIPLE) threads();
  abandoned();
  for (int i = 0; i < messages_at_once; ++i) free_slot(&outgoing[i]), free_slot(&incoming[i]);
  return end();
}
