// Derived types around a ring of any number of ranks by the calls that copy what they send: MPI_Bsend, MPI_Ibsend,
// MPI_Bsend_init and MPI_Sendrecv_replace. Checks what arrives; writes to a file per rank how many messages the attached
// buffer has room for, which must be the same with Wherry and without.
#include "error_classes.h"
#include "typed_kinds.h"

static int next, previous;

// --- buffered sends

enum Form { bsend, ibsend, bsend_init, forms };
static const char* const form_names[] = {"MPI_Bsend", "MPI_Ibsend", "MPI_Bsend_init"};

/// The code of the call that fills the attached buffer.
static int send(enum Form form, const struct Side* out, int to, int tag, MPI_Comm comm) {
  const void* const memory = sent_of(out);
  MPI_Request request;
  if (form == bsend) return MPI_Bsend(memory, count_of(out), type_of(out), to, tag, comm);
  if (form == ibsend) {
    const int code = MPI_Ibsend(memory, count_of(out), type_of(out), to, tag, comm, &request);
    if (code == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code;
  }
  MPI_Bsend_init(memory, count_of(out), type_of(out), to, tag, comm, &request);
  const int code = MPI_Start(&request);
  if (code == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return code;
}

static void round_the_ring(enum Form form, const struct Side* out, const struct Side* in, int round) {
  char what[200];
  MPI_Status status;
  snprintf(what, sizeof what, "%s of %s, %ld bytes, round %d", form_names[form], out->kind->name, out->bytes,
           round);
  use(out->kind, out->count);
  fill(rank, round);
  gather(out->kind, out->bytes, origin(sent_memory), dense);
  memset(received_memory, 0x66, (size_t)in_use);
  send(form, out, next, 7, MPI_COMM_WORLD);
  memset(sent_memory, 0x55, (size_t)in_use);  // the program may use it again
  MPI_Recv(received_of(in), count_of(in), type_of(in), previous, 7, MPI_COMM_WORLD, &status);
  fill(previous, round);
  gather(out->kind, out->bytes, origin(sent_memory), dense);
  compare(in, in->bytes, dense, what);
  compare_status(in, &status, previous, what);
}

static void buffered(void) {
  const int counts[] = {1, 40, 300, 900};
  for (int k = 0; k < 4; ++k)
    for (int n = 0; n < 4; ++n)
      for (int form = 0; form < forms; ++form)
        for (int round = 0; round < rounds; ++round) {
          const struct Side out = {&kinds[k], 1, counts[n], counts[n] * kinds[k].size};
          const struct Side in = {&kinds[k], round % 2, counts[n], out.bytes};
          round_the_ring((enum Form)form, &out, &in, round);
        }
}

/// Sends to itself, which receives nothing meanwhile, until the attached buffer is full. On a communicator of its own:
/// Open MPI delivers nothing on one after a buffered send that failed.
static void fill_the_buffer(enum Form form, long room, const struct Side* out) {
  char* const attached = allocate(room + 64);
  int sent = 0, code = MPI_SUCCESS;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  handle_by(comm, MPI_ERRORS_RETURN);
  MPI_Buffer_attach(attached, (int)room);
  while (sent < 9 && (code = send(form, out, 0, sent, comm)) == MPI_SUCCESS) ++sent;
  tell("%s, room for %ld: %d messages, then %s\n", form_names[form], room, sent, class_of(code));
  gather(out->kind, out->bytes, origin(sent_memory), dense);
  for (int i = 0; i < sent; ++i) {
    memset(received_memory, 0x66, (size_t)in_use);
    MPI_Recv(origin(received_memory), out->count, out->kind->type, 0, i, comm, MPI_STATUS_IGNORE);
    compare(out, out->bytes, dense, "out of a full buffer");
  }
  void* detached = NULL;
  int bytes = 0;
  MPI_Buffer_detach(&detached, &bytes);
  free(attached);
  handle_by(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
}

static void room_in_the_buffer(void) {
  const struct Side out = {&kinds[0], 1, 1600, 1600 * kinds[0].size};  // long enough to wait for its receiver
  int packed_bytes = 0;
  use(out.kind, out.count);
  fill(rank, 0);
  MPI_Pack_size(out.count, out.kind->type, MPI_COMM_SELF, &packed_bytes);
  const long each = packed_bytes + MPI_BSEND_OVERHEAD;
  const long rooms[] = {packed_bytes / 2, packed_bytes - 1, each, 3 * each - 1, 3 * each, 3 * each + 1000};
  for (int form = 0; form < forms; ++form)
    for (int n = 0; n < 6; ++n)
      for (int round = 0; round < rounds; ++round) fill_the_buffer((enum Form)form, rooms[n], &out);
}

// --- one buffer for what goes and what comes

static void replaced(const struct Kind* kind, int count, int derived, int round) {
  const struct Side both = {kind, derived, count, count * kind->size};
  MPI_Status status;
  use(kind, count);
  fill(rank, round);
  gather(kind, both.bytes, origin(sent_memory), packed);
  memset(received_memory, 0x66, (size_t)in_use);
  scatter(kind, both.bytes, packed, origin(received_memory));
  MPI_Sendrecv_replace(received_of(&both), count_of(&both), type_of(&both), next, 7, previous, 7,
                       MPI_COMM_WORLD, &status);
  fill(previous, round);
  gather(kind, both.bytes, origin(sent_memory), dense);
  compare(&both, both.bytes, dense, "MPI_Sendrecv_replace");
  compare_status(&both, &status, previous, "MPI_Sendrecv_replace");
}

/// So many of 200 elements, and three members of one more, arrive: the others stay.
static void replaced_in_part(int whole, int round) {
  const int lengths[] = {whole, 1};
  const MPI_Aint at[] = {0, whole * five.extent};
  const MPI_Datatype types[] = {five.type, three.type};
  const struct Side both = {&five, 1, 200, 200 * five.size};
  const long arrived = whole * five.size + three.size;
  MPI_Datatype part;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Type_create_struct(2, lengths, at, types, &part);
  MPI_Type_commit(&part);
  use(&five, 200);
  fill(rank, round);
  gather(&five, both.bytes, origin(sent_memory), dense);
  memset(received_memory, 0x66, (size_t)in_use);
  scatter(&five, both.bytes, dense, origin(received_memory));
  MPI_Irecv(packed, (int)both.bytes, MPI_BYTE, previous, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(origin(sent_memory), 1, part, next, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Sendrecv_replace(origin(received_memory), 200, five.type, next, 4, previous, 3, MPI_COMM_WORLD,
                       &status);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  tell_status("in part", &status);
  fill(previous, round);
  gather(&five, arrived, origin(sent_memory), dense);
  compare(&both, both.bytes, dense, "MPI_Sendrecv_replace in part");
  gather(&five, both.bytes, origin(sent_memory), dense);
  if (memcmp(packed, dense, (size_t)both.bytes) != 0) fail("MPI_Sendrecv_replace sent other bytes");
  MPI_Type_free(&part);
}

/// The buffer stays where nobody sends, also if it went somewhere.
static void replaced_by_nothing(int round) {
  const struct Side both = {&five, 1, 200, 200 * five.size};
  MPI_Status status;
  use(&five, 200);
  fill(rank, round);
  gather(&five, both.bytes, origin(sent_memory), dense);
  memset(received_memory, 0x66, (size_t)in_use);
  scatter(&five, both.bytes, dense, origin(received_memory));
  MPI_Sendrecv_replace(origin(received_memory), 200, five.type, MPI_PROC_NULL, 7, MPI_PROC_NULL, 7,
                       MPI_COMM_WORLD, &status);
  compare(&both, both.bytes, dense, "MPI_Sendrecv_replace with nobody");
  const int last = next == 0, first = rank == 0;
  MPI_Sendrecv_replace(origin(received_memory), 200, five.type, last ? MPI_PROC_NULL : next, 7,
                       first ? MPI_PROC_NULL : previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  fill(first ? rank : previous, round);
  gather(&five, both.bytes, origin(sent_memory), dense);
  compare(&both, both.bytes, dense, "MPI_Sendrecv_replace along a line");
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size, previous = (rank + size - 1) % size;
  char* const attached = allocate(1 << 20);
  MPI_Buffer_attach(attached, 1 << 20);
  buffered();
  void* detached = NULL;
  int bytes = 0;
  MPI_Buffer_detach(&detached, &bytes);
  room_in_the_buffer();
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < 4; ++k)
      for (int derived = 0; derived < 2; ++derived)
        replaced(&kinds[k], 30 + 270 * (k % 2), derived, round), replaced(&kinds[k], 900, derived, round);
    for (int whole = 0; whole < 200; whole += 66) replaced_in_part(whole, round);
    replaced_by_nothing(round);
  }
  return end();
}
