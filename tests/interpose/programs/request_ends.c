// How nonblocking and persistent messages of derived types between two ranks end: what MPI says of them, parts,
// truncation, cancelled and abandoned ones, wrong calls. Checks what arrives by plain loops over bytes.
#include "error_classes.h"
#include "typed_kinds.h"

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

/// Sends that the program frees while they are under way, and then receives. The last of all: it ends receives by
/// Wherry.
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

int main(int argc, char** argv) {
  begin(&argc, &argv);
  cancelled();
  statuses();
  errors();
  abandoned();
  return end();
}
