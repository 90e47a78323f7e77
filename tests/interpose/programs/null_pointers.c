// Derived types around a ring of any number of ranks by every call that Wherry may move them in: from memory, with null
// pointers and no elements, and from MPI_BOTTOM by types of absolute addresses. Checks what arrives; writes to a file per
// rank what MPI says of it, which must be the same with Wherry and without.
#include "typed_kinds.h"

enum Way {
  by_send,
  by_recv,
  by_sendrecv,
  by_replacing,
  by_bsend,
  by_requests,
  by_persistent,
  by_packing,
  by_alltoallw,
  by_neighbors,
  by_neighbors_later,
  ways
};
static const char* const way_names[] = {"MPI_Send",
                                        "MPI_Recv",
                                        "MPI_Sendrecv",
                                        "MPI_Sendrecv_replace",
                                        "MPI_Bsend",
                                        "requests",
                                        "starts",
                                        "MPI_Pack",
                                        "MPI_Alltoallw",
                                        "MPI_Neighbor_alltoallw",
                                        "MPI_Ineighbor_alltoallw"};

enum { elements = 200, most_ranks = 8 };

struct Data {
  void* memory;
  int count;
  MPI_Datatype type;
};

static MPI_Comm ring;
static int ranks, next, previous;

static void by_request(enum Way way, const struct Data* out, const struct Data* in, MPI_Status* status) {
  MPI_Request requests[2];
  MPI_Status both[2];
  if (way == by_persistent) {
    MPI_Recv_init(in->memory, in->count, in->type, previous, 7, ring, &requests[0]);
    MPI_Send_init(out->memory, out->count, out->type, next, 7, ring, &requests[1]);
    MPI_Startall(2, requests);
  } else {
    MPI_Irecv(in->memory, in->count, in->type, previous, 7, ring, &requests[0]);
    MPI_Isend(out->memory, out->count, out->type, next, 7, ring, &requests[1]);
  }
  MPI_Waitall(2, requests, both);
  *status = both[0];
  if (way != by_persistent) return;
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void by_blocking_call(enum Way way, const struct Data* out, const struct Data* in,
                             MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (way) {
    case by_send:
      MPI_Irecv(in->memory, in->count, in->type, previous, 7, ring, &request);
      MPI_Send(out->memory, out->count, out->type, next, 7, ring);
      MPI_Wait(&request, status);
      return;
    case by_recv:
      MPI_Isend(out->memory, out->count, out->type, next, 7, ring, &request);
      MPI_Recv(in->memory, in->count, in->type, previous, 7, ring, status);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      return;
    case by_bsend:
      MPI_Bsend(out->memory, out->count, out->type, next, 7, ring);
      MPI_Recv(in->memory, in->count, in->type, previous, 7, ring, status);
      return;
    case by_replacing:
      gather(&five, elements * five.size, origin(sent_memory), dense);
      if (in->count != 0) scatter(&five, elements * five.size, dense, origin(received_memory));
      MPI_Sendrecv_replace(in->memory, in->count, in->type, next, 7, previous, 7, ring, status);
      return;
    default:
      MPI_Sendrecv(out->memory, out->count, out->type, next, 7, in->memory, in->count, in->type, previous, 7,
                   ring, status);
  }
}

static void by_collective(enum Way way, const struct Data* out, const struct Data* in) {
  int to[most_ranks] = {0}, from[most_ranks] = {0}, at[most_ranks] = {0};
  MPI_Datatype to_types[most_ranks], from_types[most_ranks];
  MPI_Aint far = 0;
  MPI_Request request;
  for (int r = 0; r < ranks; ++r) to_types[r] = from_types[r] = five.type;
  to[next] = out->count, to_types[next] = out->type;
  from[previous] = in->count, from_types[previous] = in->type;
  if (way == by_alltoallw) {
    MPI_Alltoallw(out->memory, to, at, to_types, in->memory, from, at, from_types, ring);
  } else if (way == by_neighbors) {
    MPI_Neighbor_alltoallw(out->memory, &out->count, &far, &out->type, in->memory, &in->count, &far,
                           &in->type, ring);
  } else {
    MPI_Ineighbor_alltoallw(out->memory, &out->count, &far, &out->type, in->memory, &in->count, &far,
                            &in->type, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void through_packed(const struct Data* out, const struct Data* in) {
  int position = 0, end = 0;
  MPI_Pack(out->memory, out->count, out->type, packed, memory_bytes, &end, ring);
  MPI_Unpack(packed, end, &position, in->memory, in->count, in->type, ring);
  tell("packed %d bytes, unpacked %d\n", end, position);
}

static void move(enum Way way, const char* what, const struct Data* out, const struct Data* in, int round) {
  char text[200];
  const struct Side side = {&five, 1, elements, elements * five.size};
  snprintf(text, sizeof text, "%s %s, round %d", way_names[way], what, round);
  memset(received_memory, 0x66, (size_t)in_use);
  fill(rank, round);
  if (way >= by_alltoallw) {
    by_collective(way, out, in);
  } else if (way == by_packing) {
    through_packed(out, in);
  } else {
    MPI_Status status;
    if (way == by_requests || way == by_persistent) by_request(way, out, in, &status);
    else by_blocking_call(way, out, in, &status);
    tell_status(text, &status);
  }
  fill(way == by_packing ? rank : previous, round);
  gather(&five, side.bytes, origin(sent_memory), dense);
  compare(&side, in->count == 0 ? 0 : side.bytes, dense, text);
}

static MPI_Datatype at_address(const void* memory) {
  MPI_Datatype type;
  MPI_Aint at;
  const int length = elements;
  MPI_Get_address(memory, &at);
  MPI_Type_create_struct(1, &length, &at, &five.type, &type);
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  char* const attached = allocate(1 << 18);
  MPI_Buffer_attach(attached, 1 << 18);
  use(&five, elements);
  MPI_Datatype from = at_address(origin(sent_memory)), to = at_address(origin(received_memory));
  const struct Data out = {origin(sent_memory), elements, five.type}, out_absolute = {MPI_BOTTOM, 1, from};
  const struct Data in = {origin(received_memory), elements, five.type}, in_absolute = {MPI_BOTTOM, 1, to};
  const struct Data none = {NULL, 0, five.type};
  for (int way = 0; way < ways; ++way)
    for (int round = 0; round < rounds; ++round) {
      move((enum Way)way, "from memory", &out, &in, round);
      move((enum Way)way, "of nothing", &none, &none, round);
      move((enum Way)way, "from absolute addresses", &out_absolute, &in_absolute, round);
      // One side alone has them. What is replaced has one side.
      if (way != by_replacing) move((enum Way)way, "to absolute addresses", &out, &in_absolute, round);
    }
  MPI_Type_free(&from);
  MPI_Type_free(&to);
  MPI_Comm_free(&ring);
  void* detached = NULL;
  int bytes = 0;
  MPI_Buffer_detach(&detached, &bytes);
  free(attached);
  return end();
}
