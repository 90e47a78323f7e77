/* Messages of many sizes from two places to random ranks, and collectives of one rank: what calls repeat is for whoever
 * watches to find out. Says what it did: a function, its calls and its bytes; "to", a rank, its messages and bytes.
 *
 *   repeated FOLDER SEED THREADS END   (THREADS: 1 for MPI_THREAD_MULTIPLE, and a second thread; END: finalize or abort)
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "expected_calls.h"

enum { calls = 6000, most = 512, functions = 15, of_thread = 4000 };

static const char* const names[functions] = {
    "MPI_Send",   "MPI_Isend",   "MPI_Recv",      "MPI_Irecv",    "MPI_Bcast",           "MPI_Allreduce",
    "MPI_Reduce", "MPI_Barrier", "MPI_Type_free", "MPI_Sendrecv", "MPI_Sendrecv_replace",
    "MPI_Wait",   "MPI_Waitall", "MPI_Waitany",  "MPI_Test"};
enum {
  send, isend, recv, irecv, bcast, allreduce, reduce, barrier, type_free, sendrecv, sendrecv_replace,
  wait, waitall, waitany, test
};

static double out[4 * most], in[4 * most];

/* For many calls; then another takes its place, which may have its handle. */
static MPI_Datatype long_lived;

static void make_long_lived(void) {
  if (random_below(2) == 0) MPI_Type_contiguous(1 + random_below(3), MPI_DOUBLE, &long_lived);
  else MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &long_lived);
  MPI_Type_commit(&long_lived);
}

static void note_if_derived(MPI_Datatype type, int count, long bytes) {
  if (type == long_lived && count > 0) note_derived(bytes);
}

static void complete(MPI_Request* request) {
  MPI_Status status;
  int which, done = 0;
  switch (random_below(4)) {
    case 0: MPI_Wait(request, random_below(2) == 0 ? &status : MPI_STATUS_IGNORE), note(wait, 0); break;
    case 1: MPI_Waitall(1, request, MPI_STATUSES_IGNORE), note(waitall, 0); break;
    case 2: MPI_Waitany(1, request, &which, MPI_STATUS_IGNORE), note(waitany, 0); break;
    default:
      while (!done) MPI_Test(request, &done, &status), note(test, 0);
  }
}

/* Some receives have room for more than comes. */
static void exchange(MPI_Comm comm, int rank, int size, MPI_Datatype type, int count) {
  const int shift = random_below(size);
  const int next = (rank + shift) % size, before = (rank + size - shift) % size;
  int element;
  MPI_Type_size(type, &element);
  MPI_Request request;
  if (random_below(2) == 0) {
    MPI_Irecv(in, count, type, before, 7, comm, &request);
    MPI_Send(out, count, type, next, 7, comm);
    complete(&request);
    note(irecv, (long)count * element);
    note(send, (long)count * element);
    note_if_derived(type, count, (long)count * element);
    note_if_derived(type, count, (long)count * element);
  } else {
    MPI_Status status;
    MPI_Isend(out, count, type, next, 7, comm, &request);
    const int capacity = random_below(2) == 0 ? most : count;
    MPI_Recv(in, capacity, type, random_below(2) == 0 ? before : MPI_ANY_SOURCE, 7,
             comm, random_below(2) == 0 ? &status : MPI_STATUS_IGNORE);
    complete(&request);
    note(recv, (long)count * element);
    note(isend, (long)count * element);
    note_if_derived(type, capacity, (long)count * element);
    note_if_derived(type, count, (long)count * element);
  }
  note_sent(next, (long)count * element);
  /* Else a message from anybody could be the next exchange's. */
  PMPI_Barrier(MPI_COMM_WORLD);
  note(barrier, 0);
}

/* Room, types and ends differ, also from the same place; one end may be nobody's. */
static void both_ways(MPI_Comm comm, int rank, int size, MPI_Datatype type, int count) {
  enum { nobody, open_chain, ring = 4 };
  const int shift = random_below(size), ends = random_below(ring + 1), other = random_below(4) == 0;
  int next = (rank + shift) % size, before = (rank + size - shift) % size;
  if (ends == nobody || (ends == open_chain && rank + shift >= size)) next = MPI_PROC_NULL;
  if (ends == nobody || (ends == open_chain && rank < shift)) before = MPI_PROC_NULL;
  int element;
  MPI_Type_size(type, &element);
  const long bytes = (long)count * element, arrived = before == MPI_PROC_NULL ? 0 : bytes;
  MPI_Status status;
  if (random_below(3) == 0) {
    MPI_Sendrecv_replace(in, count, type, next, 9, before, 9, comm, MPI_STATUS_IGNORE);
    note(sendrecv_replace, bytes + arrived);
    note_if_derived(type, count, bytes + arrived);
  } else {
    const int capacity = other ? (int)sizeof in : random_below(2) == 0 ? most : count;
    MPI_Sendrecv(out, count, type, next, 9, in, capacity, other ? MPI_BYTE : type, before, 9, comm,
                 random_below(2) == 0 ? &status : MPI_STATUS_IGNORE);
    note(sendrecv, bytes + arrived);
    note_if_derived(type, other ? count : count + capacity, bytes + arrived);
  }
  if (next != MPI_PROC_NULL) note_sent(next, bytes);
}

/* Beside the other thread: messages to itself. Noted when it has ended. */
static void* send_to_itself(void* comm) {
  double sent = 1, come = 0;
  for (int i = 0; i < of_thread; ++i)
    MPI_Sendrecv(&sent, 1, MPI_DOUBLE, 0, 3, &come, 1, MPI_DOUBLE, 0, 3, *(MPI_Comm*)comm, MPI_STATUS_IGNORE);
  return NULL;
}

static void alone(MPI_Comm comm, int count) {
  const long bytes = 8L * count;
  switch (random_below(4)) {
    case 0: MPI_Bcast(out, count, MPI_DOUBLE, 0, comm), note(bcast, bytes); break;
    case 1: MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm), note(allreduce, bytes); break;
    case 2: MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, 0, comm), note(reduce, bytes); break;
    default: MPI_Barrier(comm), note(barrier, 0);
  }
}

/* All from one place. */
static __attribute__((noinline)) void send_one(MPI_Datatype type, int to, MPI_Comm comm) {
  MPI_Send(out, 1, type, to, 8, comm);
}

/* Made for a call, and freed: the next one may have its handle, and be of another kind. */
static void vector(MPI_Comm comm, int rank, int size, int count) {
  MPI_Datatype type;
  const int is_hvector = random_below(2);
  if (is_hvector) MPI_Type_create_hvector(count, 1, 2 * sizeof(double), MPI_DOUBLE, &type);
  else MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Request request;
  MPI_Irecv(in, count, MPI_DOUBLE, (rank + size - 1) % size, 8, comm, &request);
  send_one(type, (rank + 1) % size, comm);
  complete(&request);
  note(irecv, 8L * count);
  note(send, 8L * count);
  if (is_hvector) note_hvector(8L * count);
  else note_derived(8L * count);
  note_sent((rank + 1) % size, 8L * count);
  /* Nothing of it: the type is not looked at. */
  MPI_Irecv(in, 0, MPI_DOUBLE, (rank + size - 1) % size, 8, comm, &request);
  MPI_Send(out, 0, type, (rank + 1) % size, 8, comm);
  complete(&request);
  note(irecv, 0);
  note(send, 0);
  note_sent((rank + 1) % size, 0);
  MPI_Type_free(&type);
  note(type_free, 0);
}

int main(int argc, char** argv) {
  static const int counts[] = {0, 1, 2, 3, 16, 17, 64, most};
  int level, rank, size;
  const int threads = argc > 3 && atoi(argv[3]);
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (uint64_t)atoll(argv[2]);
  MPI_Comm all, self, of_other;
  MPI_Comm_dup(MPI_COMM_SELF, &of_other);
  pthread_t other;
  const int beside = threads && level == MPI_THREAD_MULTIPLE;
  if (beside) pthread_create(&other, NULL, send_to_itself, &of_other);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  make_long_lived();
  for (int i = 0; i < calls; ++i) {
    const int count = counts[random_below(8)];
    switch (random_below(16)) {
      case 0: vector(all, rank, size, count + 1 > most ? most : count + 1); break;
      case 1:
        if (random_below(16) == 0) MPI_Type_free(&long_lived), note(type_free, 0), make_long_lived();
        if (random_below(64) != 0) break;
        MPI_Comm_free(&all);
        MPI_Comm_free(&self);
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        MPI_Comm_dup(MPI_COMM_SELF, &self);
        break;
      case 2: exchange(MPI_COMM_WORLD, rank, size, MPI_INT, count); break;
      case 3:
      case 4:
      case 5: exchange(all, rank, size, MPI_DOUBLE, count); break;
      case 6: exchange(all, rank, size, MPI_CHAR, count); break;
      case 7:
      case 8: both_ways(all, rank, size, MPI_DOUBLE, count); break;
      case 9: both_ways(MPI_COMM_WORLD, rank, size, MPI_INT, count); break;
      case 10: exchange(all, rank, size, long_lived, count); break;
      case 11: both_ways(all, rank, size, long_lived, count); break;
      default:
        for (int n = random_below(40); n > 0; --n) alone(i % 4 == 0 ? MPI_COMM_SELF : self, count);
    }
  }
  MPI_Type_free(&long_lived);
  note(type_free, 0);
  if (beside) pthread_join(other, NULL);
  for (int i = 0; beside && i < of_thread; ++i) note(sendrecv, 16), note_sent(rank, 8);
  MPI_Comm_free(&of_other);
  tell(argv[1], rank, size, functions, names);
  if (argc > 4 && strcmp(argv[4], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Comm_free(&all);
  MPI_Comm_free(&self);
  MPI_Finalize();
  return 0;
}
