// Messages of derived types that are wrong, too long, or nothing: codes and calls of handlers must be as without
// Wherry, and nothing be written where it must not.
#include "error_classes.h"
#include "typed_kinds.h"

static void tell_code(const char* what, int code) {
  tell("%s: %s, handler called %d times\n", what, class_of(code), handled);
  handled = 0;
}

enum { by_recv, by_mprobe, by_improbe, from_bsend, ways };

/// Receives with room for so many elements of five members, in several ways; the code.
static int take(int way, int room, MPI_Comm comm, MPI_Status* status) {
  char* const memory = origin(received_memory);
  MPI_Message found;
  MPI_Request request;
  int flag = 0;
  switch (way) {
    case by_recv:
    case from_bsend: return MPI_Recv(memory, room, five.type, 0, 3, comm, status);
    case by_mprobe:
      MPI_Mprobe(0, 3, comm, &found, status);
      return MPI_Mrecv(memory, room, five.type, &found, status);
    default:
      while (!flag) MPI_Improbe(0, 3, comm, &flag, &found, status);
      MPI_Imrecv(memory, room, five.type, &found, &request);
      return MPI_Wait(&request, status);
  }
}

static void truncations(int way, MPI_Comm comm, const char* how) {
  const int room[] = {0, 1, 10, 30, 199};
  for (int n = 0; n < 5; ++n)
    for (int round = 0; round < rounds_of_few; ++round) {
      memset(received_memory, 0x66, (size_t)in_use);
      fill(0, round);
      if (rank == 0) {
        if (way == from_bsend) MPI_Bsend(origin(sent_memory), 200, five.type, 1, 3, comm);
        else MPI_Send(origin(sent_memory), 200, five.type, 1, 3, comm);
        MPI_Send(origin(sent_memory), 200, five.type, 1, 4, comm);
      } else {
        MPI_Status status;
        tell_code(how, take(way, room[n], comm, &status));
        // What a call that failed has received is not said; what follows must arrive, and nothing beside the elements
        // be written.
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
  char* const attached = allocate(1 << 16);
  MPI_Buffer_attach(attached, 1 << 16);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  handle_by(comm, MPI_ERRORS_RETURN);
  for (int way = 0; way < ways; ++way) truncations(way, comm, "truncated, errors return");
  wrong_calls(comm, "errors return");
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(handler, &own);
  handle_by(comm, own);
  for (int way = 0; way < ways; ++way) truncations(way, comm, "truncated, own handler");
  wrong_calls(comm, "own handler");
  handle_by(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&comm);
  void* detached = NULL;
  int bytes = 0;
  MPI_Buffer_detach(&detached, &bytes);
  free(attached);
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

int main(int argc, char** argv) {
  begin(&argc, &argv);
  errors();
  nothing();
  return end();
}
