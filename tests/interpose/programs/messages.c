// Messages of derived and contiguous types between two ranks: every way to send by every way to receive, with sizes
// around the thresholds of libraries and of Wherry. Checks each by plain loops over bytes; writes what MPI said of each
// to a file per rank, which must be the same with Wherry and without.
#include "typed_kinds.h"

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

/// One message from rank `sender`, and then nothing more until both have it.
static void message(int sender, enum Sending sending, enum Receiving receiving, const struct Side* out,
                    const struct Side* in, int round, MPI_Comm comm, int other) {
  char what[200];
  snprintf(what, sizeof what, "%s, %ld bytes, %s%s to %s%s, round %d", out->kind->name, out->bytes,
           sending_names[sending], out->derived ? "" : " of bytes", receiving_names[receiving],
           in->derived ? "" : " of bytes", round);
  use(in->kind, out->count);
  fill(sender, round);
  if (rank != sender || !out->derived) gather(out->kind, out->bytes, origin(sent_memory), dense);
  if (rank != sender) memset(received_memory, 0x66, (size_t)in_use);
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

/// Sizes around the thresholds of libraries, up to those that several messages of a library's carry.
static void matrix(void) {
  const long sizes[] = {512, 1024, 4096, 16384, 65536, 131072, 524288, 4194304};
  int messages = 0;
  for (int k = 0; k < 4; ++k)
    for (int n = 0; n < 8; ++n)
      for (int beside = -1; beside <= 1; ++beside)
        for (int sending = 0; sending < sendings; ++sending)
          for (int receiving = 0; receiving < receivings; ++receiving)
            for (int derived = 1; derived < 4; ++derived)
              for (int round = 0; round < rounds; ++round) {
                // Every combination at some size; every size with some combinations, and with Send and Recv always. The
                // others need no more rounds than it takes to know a type. Large messages take long to fill and compare.
                const int plain = sending == by_send && receiving == by_recv;
                const int large = n > 5, one_of = large ? 33 : 11;
                if (!plain &&
                    (round > 2 || (k + n + beside + sending + 3 * receiving + derived) % one_of != 0))
                  continue;
                if (large && (beside != 0 || round > 2 || (k + n) % 2 != 0)) continue;
                if (sending == by_rsend && receiving != by_recv) continue;  // it posts MPI_Irecv
                const struct Kind* kind = &kinds[k];
                const int count = (int)((sizes[n] + kind->size - 1) / kind->size) + beside;
                const struct Side out = {kind, derived & 1, count, count * kind->size};
                const struct Side in = {kind, derived >> 1, count, count * kind->size};
                message(messages++ % 2, (enum Sending)sending, (enum Receiving)receiving, &out, &in, round,
                        MPI_COMM_WORLD, peer);
              }
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

// --- less than there is room for

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

int main(int argc, char** argv) {
  const int level = begin(&argc, &argv);
  char* const attached = allocate(8 << 20);
  MPI_Buffer_attach(attached, 8 << 20);
  matrix();
  exchanges();
  parts();
  between_groups();
  used_once();
  absolute();
  large_counts();
  if (level == MPI_THREAD_MULTIPLE) run_threads(thread_main);
  void* detached = NULL;
  int bytes = 0;
  MPI_Buffer_detach(&detached, &bytes);
  return end();
}
