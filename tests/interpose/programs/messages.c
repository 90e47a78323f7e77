// Messages of derived and contiguous types between two ranks: every way to send by every way to receive, with sizes around the
// thresholds of libraries and of Wherry. Checks each by plain loops over bytes; writes what MPI said of each to a file per rank, which
// must be the same with Wherry and without.
// Arguments: folder; rounds of each; the ranks that Wherry may send and receive for ("01", "0" or "1").
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_classes.h"

enum { most_blocks = 64, memory_bytes = 1 << 20, bytes_before = 1 << 10, bytes_behind = 1 << 10 };

static FILE* told;
static int rank, peer, rounds;
enum { rounds_of_few = 3 };  // where a type is known already, or needs not be

static void tell(const char* format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(told, format, values);
  va_end(values);
}

static void fail(const char* format, ...) {
  va_list values;
  va_start(values, format);
  fprintf(stderr, "rank %d: ", rank);
  vfprintf(stderr, format, values);
  fprintf(stderr, "\n");
  va_end(values);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

// --- types, and what they mean

struct Kind {
  const char* name;
  MPI_Datatype type;
  int blocks;
  struct {
    long at, bytes;
  } block[most_blocks];
  long extent, size;
  int basic;  // elements of predefined types
};

static void add(struct Kind* kind, long at, long bytes) {
  kind->block[kind->blocks].at = at;
  kind->block[kind->blocks++].bytes = bytes;
  kind->size += bytes;
}

static void gather(const struct Kind* kind, long size, const char* from, char* to) {
  long done = 0;
  for (long e = 0; done < size; ++e)
    for (int b = 0; b < kind->blocks; ++b)
      for (long i = 0; i < kind->block[b].bytes && done < size; ++i)
        to[done++] = from[e * kind->extent + kind->block[b].at + i];
}

static void scatter(const struct Kind* kind, long size, const char* from, char* to) {
  long done = 0;
  for (long e = 0; done < size; ++e)
    for (int b = 0; b < kind->blocks; ++b)
      for (long i = 0; i < kind->block[b].bytes && done < size; ++i)
        to[e * kind->extent + kind->block[b].at + i] = from[done++];
}

static struct Kind kinds[4], five, three;

static void make_struct(struct Kind* kind, const char* name, int members) {
  const int lengths[] = {1, 1, 1, 2, 3}, bytes[] = {4, 8, 2, 8, 12};
  const MPI_Aint at[] = {0, 8, 16, 24, 40};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_FLOAT, MPI_INT};
  MPI_Datatype plain;
  kind->name = name;
  for (int m = 0; m < members; ++m) add(kind, at[m], bytes[m]), kind->basic += lengths[m];
  MPI_Type_create_struct(members, lengths, at, types, &plain);
  kind->extent = 56;
  MPI_Type_create_resized(plain, 0, kind->extent, &kind->type);
  MPI_Type_free(&plain);
  MPI_Type_commit(&kind->type);
}

static void make_kinds(void) {
  MPI_Datatype plain;
  struct Kind* kind = &kinds[0];
  kind->name = "every other double";
  for (int b = 0; b < 16; ++b) add(kind, b * 16L, 8);
  kind->extent = 256, kind->basic = 16;
  MPI_Type_vector(16, 1, 2, MPI_DOUBLE, &plain);
  MPI_Type_create_resized(plain, 0, 256, &kind->type);
  MPI_Type_free(&plain);

  kind = &kinds[1];
  kind->name = "backwards";
  for (int b = 0; b < 10; ++b) add(kind, b * -24L, 12);
  kind->extent = 228, kind->basic = 30;
  MPI_Type_create_hvector(10, 3, -24, MPI_INT, &kind->type);

  kind = &kinds[2];
  kind->name = "subarray";
  const int sizes[] = {4, 5, 6}, subsizes[] = {2, 3, 4}, starts[] = {1, 1, 1};
  for (int x = 1; x < 3; ++x)
    for (int y = 1; y < 4; ++y) add(kind, (x * 30 + y * 6 + 1) * 4L, 16);
  kind->extent = 480, kind->basic = 24;
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_FLOAT, &kind->type);

  for (int k = 0; k < 3; ++k) MPI_Type_commit(&kinds[k].type);
  make_struct(&kinds[3], "structs", 5);
  make_struct(&five, "five members", 5);
  make_struct(&three, "three members", 3);
}

// --- memory

static char *sent_memory, *received_memory, *wanted_memory, *packed, *dense;

/// Bytes of memory that a message may be in, those before and behind it included: so many are filled and compared.
static long in_use = memory_bytes;

static void use(const struct Kind* kind, long count) {
  in_use = bytes_before + count * kind->extent + bytes_behind;
  if (in_use > memory_bytes) in_use = memory_bytes;
}

static void* allocate(long bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, (size_t)bytes) != 0) fail("no memory");
  return memory;
}

/// What a rank sends in a round; its peer knows it.
static void fill(int sender, int round) {
  unsigned random = 12345u + 977u * (unsigned)round + 31u * (unsigned)sender;
  for (long i = 0; i + 4 <= in_use; i += 4) {
    random = random * 1664525u + 1013904223u;
    const unsigned word = random ^ random >> 15;
    memcpy(sent_memory + i, &word, 4);
  }
}

static char* origin(char* memory) { return memory + bytes_before; }

// --- the matrix

enum Sending {
  by_send,
  by_ssend,
  by_rsend,
  by_bsend,
  by_isend,
  by_issend,
  by_send_init,
  by_sendrecv,
  sendings
};
static const char* const sending_names[] = {"Send",  "Ssend",  "Rsend",     "Bsend",
                                            "Isend", "Issend", "Send_init", "Sendrecv"};
enum Receiving {
  by_recv,
  by_wildcards,
  by_probe,
  by_iprobe,
  by_mprobe,
  by_irecv,
  by_recv_init,
  in_sendrecv,
  receivings
};
static const char* const receiving_names[] = {"Recv",   "Recv of any", "Probe",     "Iprobe",
                                              "Mprobe", "Irecv",       "Recv_init", "Sendrecv"};

struct Side {
  const struct Kind* kind;
  int derived, count;
  long bytes;
};

static int count_of(const struct Side* s) { return s->derived ? s->count : (int)s->bytes; }
static MPI_Datatype type_of(const struct Side* s) { return s->derived ? s->kind->type : MPI_BYTE; }
static void* sent_of(const struct Side* s) { return s->derived ? origin(sent_memory) : dense; }
static void* received_of(const struct Side* s) { return s->derived ? origin(received_memory) : packed; }

static void send(enum Sending how, const struct Side* s, MPI_Comm comm, int to) {
  const void* const buffer = sent_of(s);
  const int count = count_of(s), tag = 7;
  const MPI_Datatype type = type_of(s);
  MPI_Request request;
  switch (how) {
    case by_send: MPI_Send(buffer, count, type, to, tag, comm); return;
    case by_ssend: MPI_Ssend(buffer, count, type, to, tag, comm); return;
    case by_rsend: MPI_Rsend(buffer, count, type, to, tag, comm); return;
    case by_bsend: MPI_Bsend(buffer, count, type, to, tag, comm); return;
    case by_isend: MPI_Isend(buffer, count, type, to, tag, comm, &request); break;
    case by_issend: MPI_Issend(buffer, count, type, to, tag, comm, &request); break;
    case by_send_init:
      MPI_Send_init(buffer, count, type, to, tag, comm, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      return;
    default:
      MPI_Sendrecv(buffer, count, type, to, tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm,
                   MPI_STATUS_IGNORE);
      return;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static MPI_Request ready;

/// What a receive for a ready send posts first.
static void post(const struct Side* s, MPI_Comm comm, int from) {
  MPI_Irecv(received_of(s), count_of(s), type_of(s), from, 7, comm, &ready);
}

static void receive(enum Receiving how, const struct Side* s, MPI_Comm comm, int from, MPI_Status* status) {
  void* const buffer = received_of(s);
  const int count = count_of(s), tag = 7;
  const MPI_Datatype type = type_of(s);
  MPI_Request request;
  MPI_Message message;
  int flag = 0, bytes = 0;
  switch (how) {
    case by_recv: MPI_Recv(buffer, count, type, from, tag, comm, status); return;
    case by_wildcards: MPI_Recv(buffer, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status); return;
    case by_probe:
      MPI_Probe(MPI_ANY_SOURCE, tag, comm, status);
      MPI_Get_count(status, MPI_BYTE, &bytes);
      if (bytes != s->bytes) fail("MPI_Probe says %d bytes, not %ld", bytes, s->bytes);
      MPI_Recv(buffer, count, type, status->MPI_SOURCE, status->MPI_TAG, comm, status);
      return;
    case by_iprobe:
      while (!flag) MPI_Iprobe(from, MPI_ANY_TAG, comm, &flag, status);
      MPI_Recv(buffer, count, type, from, tag, comm, status);
      return;
    case by_mprobe:
      MPI_Mprobe(from, tag, comm, &message, status);
      MPI_Mrecv(buffer, count, type, &message, status);
      return;
    case by_irecv: MPI_Irecv(buffer, count, type, from, tag, comm, &request); break;
    case by_recv_init:
      MPI_Recv_init(buffer, count, type, from, tag, comm, &request);
      MPI_Start(&request);
      MPI_Wait(&request, status);
      MPI_Request_free(&request);
      return;
    default:
      MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, count, type, from, tag, comm, status);
      return;
  }
  MPI_Wait(&request, status);
}

/// The receiver's memory must have what was sent where the type says, and be as it was elsewhere.
static void compare(const struct Side* s, long arrived, const char* sent, const char* what) {
  memset(wanted_memory, 0x66, (size_t)in_use);
  if (!s->derived) {
    if (memcmp(packed, sent, (size_t)arrived) != 0) fail("%s: other bytes arrived", what);
    return;
  }
  scatter(s->kind, arrived, sent, origin(wanted_memory));
  if (memcmp(received_memory, wanted_memory, (size_t)in_use) == 0) return;
  for (long i = 0; i < in_use; ++i)
    if (received_memory[i] != wanted_memory[i])
      fail("%s: byte %ld is %d, not %d", what, i - bytes_before, received_memory[i], wanted_memory[i]);
}

static void compare_status(const struct Side* s, const MPI_Status* status, int from, const char* what) {
  int count = -7, elements = -7, bytes = -7, cancelled = -7;
  MPI_Count many = -7;
  MPI_Get_count(status, type_of(s), &count);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  MPI_Get_elements(status, type_of(s), &elements);
  MPI_Get_elements_x(status, type_of(s), &many);
  MPI_Test_cancelled(status, &cancelled);
  const int basic = s->derived ? s->kind->basic * s->count : (int)s->bytes;
  if (count != count_of(s) || bytes != s->bytes || elements != basic || many != basic || cancelled != 0 ||
      status->MPI_SOURCE != from || status->MPI_TAG != 7)
    fail("%s: count %d, bytes %d, elements %d, cancelled %d, source %d, tag %d", what, count, bytes, elements,
         cancelled, status->MPI_SOURCE, status->MPI_TAG);
}

/// One message from rank `sender`, and then nothing more until both have it.
static void message(int sender, enum Sending sending, enum Receiving receiving, const struct Side* out,
                    const struct Side* in, int round, MPI_Comm comm, int other) {
  char what[200];
  snprintf(what, sizeof what, "%s, %ld bytes, %s%s to %s%s, round %d", out->kind->name, out->bytes,
           sending_names[sending], out->derived ? "" : " of bytes", receiving_names[receiving],
           in->derived ? "" : " of bytes", round);
  use(in->kind, out->count);
  fill(sender, round);
  gather(out->kind, out->bytes, origin(sent_memory), dense);
  memset(received_memory, 0x66, (size_t)in_use);
  if (rank != sender && sending == by_rsend) post(in, comm, other);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == sender) {
    send(sending, out, comm, other);
  } else {
    MPI_Status status;
    if (sending == by_rsend) MPI_Wait(&ready, &status);
    else receive(receiving, in, comm, other, &status);
    compare(in, in->bytes, dense, what);
    compare_status(in, &status, other, what);
  }
}

static void matrix(void) {
  const long sizes[] = {512, 1024, 4096, 16384, 65536, 131072};
  int messages = 0;
  for (int k = 0; k < 4; ++k)
    for (int n = 0; n < 6; ++n)
      for (int beside = -1; beside <= 1; ++beside)
        for (int sending = 0; sending < sendings; ++sending)
          for (int receiving = 0; receiving < receivings; ++receiving)
            for (int derived = 1; derived < 4; ++derived)
              for (int round = 0; round < rounds; ++round) {
                // Every combination at some size; every size with some combinations, and with Send and Recv always. The others need
                // no more rounds than it takes to know a type.
                const int plain = sending == by_send && receiving == by_recv;
                if (!plain && (round > 2 || (k + n + beside + sending + 3 * receiving + derived) % 11 != 0))
                  continue;
                if (sending == by_rsend && receiving != by_recv) continue;  // it posts MPI_Irecv
                const struct Kind* kind = &kinds[k];
                const int count = (int)((sizes[n] + kind->size - 1) / kind->size) + beside;
                const struct Side out = {kind, derived & 1, count, count * kind->size};
                const struct Side in = {kind, derived >> 1, count, count * kind->size};
                message(messages++ % 2, (enum Sending)sending, (enum Receiving)receiving, &out, &in, round,
                        MPI_COMM_WORLD, peer);
              }
  tell("%d messages of the matrix\n", messages);
}

// --- both ways at once

static void exchanges(void) {
  for (int k = 0; k < 4; ++k)
    for (int derived = 1; derived < 4; ++derived)
      for (int to_self = 0; to_self < 2; ++to_self)
        for (int round = 0; round < rounds_of_few + 2; ++round) {
          const struct Kind* kind = &kinds[k];
          const int other = to_self ? rank : peer;
          const struct Side out = {kind, derived & 1, 100, 100 * kind->size};
          const struct Side in = {kind, derived >> 1, 100, 100 * kind->size};
          MPI_Status status;
          use(kind, 100);
          fill(rank, round);
          gather(kind, out.bytes, origin(sent_memory), dense);
          memset(received_memory, 0x66, (size_t)in_use);
          MPI_Sendrecv(sent_of(&out), count_of(&out), type_of(&out), other, 7, received_of(&in),
                       count_of(&in), type_of(&in), other, 7, MPI_COMM_WORLD, &status);
          fill(other, round);
          gather(kind, out.bytes, origin(sent_memory), dense);
          compare(&in, in.bytes, dense, "MPI_Sendrecv");
          compare_status(&in, &status, other, "MPI_Sendrecv");
          MPI_Sendrecv_replace(received_of(&in), count_of(&in), type_of(&in), other, 7, other, 7,
                               MPI_COMM_WORLD, &status);
          fill(rank, round);  // it comes back
          gather(kind, out.bytes, origin(sent_memory), dense);
          compare(&in, in.bytes, dense, "MPI_Sendrecv_replace");
        }
}

// --- less than there is room for, more, and nothing

static void tell_status(const char* what, const MPI_Status* status) {
  int count = 0, elements = 0, bytes = 0;
  MPI_Count many = 0;
  MPI_Get_count(status, five.type, &count);
  MPI_Get_elements(status, five.type, &elements);
  MPI_Get_elements_x(status, five.type, &many);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  tell("%s: count %d, elements %d and %d, bytes %d, source %d, tag %d\n", what,
       count == MPI_UNDEFINED ? -1 : count, elements, (int)many, bytes, status->MPI_SOURCE, status->MPI_TAG);
}

/// Some elements of five members, and three members of one more, received as more elements of five.
static void parts(void) {
  use(&five, 300);
  for (int whole = 0; whole < 200; whole += 33)
    for (int way = 0; way < 3; ++way)
      for (int round = 0; round < rounds_of_few; ++round) {
        const int lengths[] = {whole, 1};
        const MPI_Aint at[] = {0, whole * five.extent};
        const MPI_Datatype types[] = {five.type, three.type};
        MPI_Datatype part;
        MPI_Type_create_struct(2, lengths, at, types, &part);
        MPI_Type_commit(&part);
        fill(0, round);
        memset(received_memory, 0x66, (size_t)in_use);
        if (rank == 0) {
          if (way == 2) MPI_Ssend(origin(sent_memory), 1, part, 1, 3, MPI_COMM_WORLD);
          else MPI_Send(origin(sent_memory), 1, part, 1, 3, MPI_COMM_WORLD);
        } else {
          MPI_Status status;
          MPI_Message found;
          if (way == 1) MPI_Mprobe(0, 3, MPI_COMM_WORLD, &found, &status);
          if (way == 1) MPI_Mrecv(origin(received_memory), 300, five.type, &found, &status);
          else MPI_Recv(origin(received_memory), 300, five.type, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
          const struct Side in = {&five, 1, whole, whole * five.size + three.size};
          gather(&five, in.bytes, origin(sent_memory), dense);
          compare(&in, in.bytes, dense, "three of five members");
          tell_status("three of five members", &status);
          int elements = 0;
          MPI_Get_elements(&status, five.type, &elements);
          if (elements != whole * five.basic + three.basic) fail("MPI_Get_elements says %d", elements);
        }
        MPI_Type_free(&part);
      }
}

static void tell_code(const char* what, int code) {
  tell("%s: %s, handler called %d times\n", what, class_of(code), handled);
  handled = 0;
}

static void truncations(MPI_Comm comm, const char* how) {
  const int room[] = {0, 1, 10, 30, 199};
  for (int n = 0; n < 5; ++n)
    for (int round = 0; round < rounds_of_few; ++round) {
      memset(received_memory, 0x66, (size_t)in_use);
      fill(0, round);
      if (rank == 0) {
        MPI_Send(origin(sent_memory), 200, five.type, 1, 3, comm);
        MPI_Send(origin(sent_memory), 200, five.type, 1, 4, comm);
      } else {
        MPI_Status status;
        tell_code(how, MPI_Recv(origin(received_memory), room[n], five.type, 0, 3, comm, &status));
        // What a call that failed has received is not said; what follows must arrive, and nothing beside the elements be written.
        char* const memory = origin(received_memory);
        for (long e = 0; e < 200; ++e)
          for (long i = 4; i < 8; ++i)
            if (memory[e * five.extent + i] != 0x66) fail("%s: wrote between the members", how);
        for (long i = room[n] * five.extent; i < in_use - bytes_before; ++i)
          if (memory[i] != 0x66) fail("%s: wrote behind the elements", how);
        memset(received_memory, 0x66, (size_t)in_use);
        MPI_Recv(origin(received_memory), 200, five.type, 0, 4, comm, &status);
        const struct Side in = {&five, 1, 200, 200 * five.size};
        gather(&five, in.bytes, origin(sent_memory), dense);
        compare(&in, in.bytes, dense, "after a truncation");
      }
    }
}

static void wrong_calls(MPI_Comm comm, const char* how) {
  MPI_Status status;
  char* const memory = origin(sent_memory);
  char* const room = origin(received_memory);
  tell("%s\n", how);
  for (int round = 0; round < rounds_of_few; ++round) {
    tell_code("send to no rank", MPI_Send(memory, 200, five.type, 99, 3, comm));
    tell_code("send with a negative tag", MPI_Ssend(memory, 200, five.type, peer, -99, comm));
    tell_code("send a negative count", MPI_Send(memory, -1, five.type, peer, 3, comm));
    tell_code("send no type", MPI_Send(memory, 200, MPI_DATATYPE_NULL, peer, 3, comm));
    tell_code("receive from no rank", MPI_Recv(room, 200, five.type, 99, 3, comm, &status));
    tell_code("receive with a negative tag", MPI_Recv(room, 200, five.type, peer, -99, comm, &status));
    tell_code("receive a negative count", MPI_Recv(room, -1, five.type, peer, 3, comm, &status));
    tell_code("receive no type", MPI_Recv(room, 200, MPI_DATATYPE_NULL, peer, 3, comm, &status));
    tell_code("exchange with no rank",
              MPI_Sendrecv(memory, 200, five.type, 99, 3, room, 200, five.type, 99, 3, comm, &status));
    MPI_Datatype uncommitted;
    MPI_Type_vector(300, 1, 2, MPI_DOUBLE, &uncommitted);
    for (int i = 0; i < 4; ++i) {
      tell_code("send a type that is not committed", MPI_Send(memory, 1, uncommitted, peer, 3, comm));
      tell_code("receive it", MPI_Recv(room, 1, uncommitted, peer, 3, comm, &status));
    }
    MPI_Type_free(&uncommitted);
  }
}

static void errors(void) {
  use(&five, 200);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  truncations(comm, "truncated, errors return");
  wrong_calls(comm, "errors return");
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(comm, own);
  truncations(comm, "truncated, own handler");
  wrong_calls(comm, "own handler");
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&comm);
}

static void nothing(void) {
  use(&five, 200);
  for (int round = 0; round < rounds_of_few + 2; ++round) {
    MPI_Status status;
    memset(received_memory, 0x66, (size_t)in_use);
    MPI_Send(origin(sent_memory), 200, five.type, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    MPI_Recv(origin(received_memory), 200, five.type, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    tell("from nobody: %s",
         status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG ? "" : "not ");
    tell_status("so", &status);
    if (rank == 0) {
      MPI_Send(origin(sent_memory), 0, five.type, 1, 3, MPI_COMM_WORLD);
      MPI_Send(NULL, 0, five.type, 1, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(origin(received_memory), 200, five.type, 0, 3, MPI_COMM_WORLD, &status);
      tell_status("no elements", &status);
      MPI_Recv(NULL, 0, five.type, 0, 3, MPI_COMM_WORLD, &status);
      tell_status("no elements and no room", &status);
    }
    for (long i = 0; i < in_use; ++i)
      if (received_memory[i] != 0x66) fail("nothing was sent, something arrived");
  }
}

// --- other communicators, types that come and go, absolute addresses, large counts

static void between_groups(void) {
  MPI_Comm inter;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, peer, 9, &inter);
  for (int k = 0; k < 4; ++k)
    for (int round = 0; round < rounds_of_few; ++round) {
      const struct Side side = {&kinds[k], 1, 300, 300 * kinds[k].size};
      message(round % 2, by_send, by_wildcards, &side, &side, round, inter, 0);
    }
  MPI_Comm_free(&inter);
}

static void used_once(void) {
  for (int i = 0; i < 300; ++i) {
    struct Kind kind = {"a type that is freed", MPI_DATATYPE_NULL, 0, {{0, 0}}, 0, 0, 0};
    const int stride = 2 + i % 5, count = 40 + i % 7;
    for (int b = 0; b < count; ++b) add(&kind, b * stride * 8L, 8);
    kind.basic = count, kind.extent = ((count - 1) * stride + 1) * 8L;
    MPI_Type_vector(count, 1, stride, MPI_DOUBLE, &kind.type);
    MPI_Type_commit(&kind.type);
    const struct Side side = {&kind, 1, 5, 5 * kind.size};
    for (int call = 0; call < 1 + i % 4; ++call)
      message(call % 2, by_send, by_recv, &side, &side, call, MPI_COMM_WORLD, peer);
    MPI_Type_free(&kind.type);
  }
}

static void absolute(void) {
  use(&five, 200);
  for (int round = 0; round < rounds_of_few; ++round) {
    MPI_Datatype type;
    MPI_Aint at;
    const int length = 200;
    MPI_Status status;
    fill(0, round);
    memset(received_memory, 0x66, (size_t)in_use);
    MPI_Get_address(origin(rank == 0 ? sent_memory : received_memory), &at);
    MPI_Type_create_struct(1, &length, &at, &five.type, &type);
    MPI_Type_commit(&type);
    for (int call = 0; call < 4; ++call)
      if (rank == 0) MPI_Send(MPI_BOTTOM, 1, type, 1, 3, MPI_COMM_WORLD);
      else MPI_Recv(MPI_BOTTOM, 1, type, 0, 3, MPI_COMM_WORLD, &status);
    MPI_Type_free(&type);
    if (rank == 0) continue;
    const struct Side in = {&five, 1, 200, 200 * five.size};
    gather(&five, in.bytes, origin(sent_memory), dense);
    compare(&in, in.bytes, dense, "from absolute addresses");
  }
}

static void large_counts(void) {
#if MPI_VERSION >= 4
  const struct Side side = {&five, 1, 200, 200 * five.size};
  use(&five, 200);
  for (int round = 0; round < rounds_of_few; ++round) {
    MPI_Status status;
    MPI_Message found;
    fill(0, round);
    gather(&five, side.bytes, origin(sent_memory), dense);
    for (int way = 0; way < 3; ++way) {
      memset(received_memory, 0x66, (size_t)in_use);
      if (rank == 0) {
        if (way == 0) MPI_Send_c(origin(sent_memory), 200, five.type, 1, 7, MPI_COMM_WORLD);
        if (way == 1) MPI_Ssend_c(origin(sent_memory), 200, five.type, 1, 7, MPI_COMM_WORLD);
        if (way == 2)
          MPI_Sendrecv_c(origin(sent_memory), 200, five.type, 1, 7, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        continue;
      }
      if (way == 0) MPI_Recv_c(origin(received_memory), 200, five.type, 0, 7, MPI_COMM_WORLD, &status);
      if (way == 1) MPI_Mprobe(0, 7, MPI_COMM_WORLD, &found, &status);
      if (way == 1) MPI_Mrecv_c(origin(received_memory), 200, five.type, &found, &status);
      if (way == 2)
        MPI_Sendrecv_c(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, origin(received_memory), 200, five.type, 0, 7,
                       MPI_COMM_WORLD, &status);
      compare(&side, side.bytes, dense, "large counts");
      compare_status(&side, &status, 0, "large counts");
    }
  }
#endif
}

// --- several threads, each with its own type and tag

static void* thread_main(void* argument) {
  const int number = *(int*)argument;
  const struct Kind* kind = &kinds[number];
  const int count = 150;
  const long bytes = count * kind->size, room = bytes_before + count * kind->extent + 1024;
  char *memory = malloc((size_t)room), *sent = malloc((size_t)bytes), *got = malloc((size_t)bytes);
  for (int round = 0; round < 100; ++round) {
    for (long i = 0; i < bytes; ++i) sent[i] = (char)(i * 7 + round + number);
    memset(memory, 0x66, (size_t)room);
    if ((round + rank) % 2 == 0) {
      scatter(kind, bytes, sent, origin(memory));
      MPI_Send(origin(memory), count, kind->type, peer, 20 + number, MPI_COMM_WORLD);
    } else {
      MPI_Recv(origin(memory), count, kind->type, peer, 20 + number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      gather(kind, bytes, origin(memory), got);
      if (memcmp(got, sent, (size_t)bytes) != 0) fail("thread %d: other bytes arrived", number);
    }
  }
  free(memory), free(sent), free(got);
  return NULL;
}

static void threads(void) {
  pthread_t thread[4];
  int number[4];
  for (int t = 0; t < 4; ++t) number[t] = t, pthread_create(&thread[t], NULL, thread_main, &number[t]);
  for (int t = 0; t < 4; ++t) pthread_join(thread[t], NULL);
}

static int rank_of_launcher(void) {
  const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (int i = 0; i < 3; ++i)
    if (getenv(names[i]) != NULL) return atoi(getenv(names[i]));
  return -1;
}

int main(int argc, char** argv) {
  const char own[] = {(char)('0' + rank_of_launcher()), 0};
  rounds = atoi(argv[2]);
  if (strstr(argv[3], own) == NULL) setenv("WHERRY_LAYOUT", "native", 1);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", argv[1], rank);
  told = fopen(path, "w");
  sent_memory = allocate(memory_bytes), received_memory = allocate(memory_bytes);
  wanted_memory = allocate(memory_bytes), packed = allocate(memory_bytes), dense = allocate(memory_bytes);
  char* const attached = allocate(1 << 20);
  MPI_Buffer_attach(attached, 1 << 20);
  make_kinds();
  matrix();
  exchanges();
  parts();
  errors();
  nothing();
  between_groups();
  used_once();
  absolute();
  large_counts();
  if (level == MPI_THREAD_MULTIPLE) threads();
  for (int k = 0; k < 4; ++k) MPI_Type_free(&kinds[k].type);
  MPI_Type_free(&five.type);
  MPI_Type_free(&three.type);
  void* detached = NULL;
  int bytes = 0;
  MPI_Buffer_detach(&detached, &bytes);
  fclose(told);
  MPI_Finalize();
  return 0;
}
