/* Messages of many sizes from two places to random ranks, and collectives of one rank: what calls repeat is for whoever
 * watches to find out. Says what it did: a function, its calls and its bytes; "to", a rank, its messages and bytes.
 *
 *   repeated FOLDER SEED THREADS END   (THREADS: 1 for MPI_THREAD_MULTIPLE; END: finalize or abort)
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "expected_calls.h"

enum { calls = 6000, most = 512, functions = 9 };

static const char* const names[functions] = {"MPI_Send",   "MPI_Isend",   "MPI_Recv",
                                             "MPI_Irecv",  "MPI_Bcast",   "MPI_Allreduce",
                                             "MPI_Reduce", "MPI_Barrier", "MPI_Type_free"};
enum { send, isend, recv, irecv, bcast, allreduce, reduce, barrier, type_free };

static double out[2 * most], in[2 * most];

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
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note(irecv, (long)count * element);
    note(send, (long)count * element);
  } else {
    MPI_Status status;
    MPI_Isend(out, count, type, next, 7, comm, &request);
    MPI_Recv(in, random_below(2) == 0 ? most : count, type, random_below(2) == 0 ? before : MPI_ANY_SOURCE, 7,
             comm, random_below(2) == 0 ? &status : MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note(recv, (long)count * element);
    note(isend, (long)count * element);
  }
  note_sent(next, (long)count * element);
  /* Else a message from anybody could be the next exchange's. */
  PMPI_Barrier(MPI_COMM_WORLD);
  note(barrier, 0);
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

static void vector(MPI_Comm comm, int rank, int size, int count) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Request request;
  MPI_Irecv(in, count, MPI_DOUBLE, (rank + size - 1) % size, 8, comm, &request);
  MPI_Send(out, 1, type, (rank + 1) % size, 8, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note(irecv, 8L * count);
  note(send, 8L * count);
  note_sent((rank + 1) % size, 8L * count);
  /* Nothing of it: the type is not looked at. */
  MPI_Irecv(in, 0, MPI_DOUBLE, (rank + size - 1) % size, 8, comm, &request);
  MPI_Send(out, 0, type, (rank + 1) % size, 8, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note(irecv, 0);
  note(send, 0);
  note_sent((rank + 1) % size, 0);
  MPI_Type_free(&type);
  note(type_free, 0);
}

int main(int argc, char** argv) {
  static const int counts[] = {0, 1, 2, 3, 16, 17, 64, most};
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, argc > 3 && atoi(argv[3]) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (uint64_t)atoll(argv[2]);
  MPI_Comm all, self;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  for (int i = 0; i < calls; ++i) {
    const int count = counts[random_below(8)];
    switch (random_below(16)) {
      case 0: vector(all, rank, size, count + 1 > most ? most : count + 1); break;
      case 1:
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
      default:
        for (int n = random_below(40); n > 0; --n) alone(i % 4 == 0 ? MPI_COMM_SELF : self, count);
    }
  }
  tell(argv[1], rank, size, functions, names);
  if (argc > 4 && strcmp(argv[4], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Comm_free(&all);
  MPI_Comm_free(&self);
  MPI_Finalize();
  return 0;
}
