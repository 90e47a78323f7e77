/* Four threads, each with a communicator of its own, 500 barriers and 500 messages to itself each. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { threads = 4, rounds = 500 };

static void* work(void* argument) {
  MPI_Comm comm = *(MPI_Comm*)argument;
  int rank, out = 1, in = 0;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < rounds; ++i) {
    MPI_Request request;
    MPI_Datatype pair;
    MPI_Type_contiguous(1, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Irecv(&in, 1, pair, rank, 0, comm, &request);
    MPI_Send(&out, 1, MPI_INT, rank, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&pair);
    MPI_Barrier(comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Comm comms[threads];
  pthread_t ids[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided == MPI_THREAD_MULTIPLE) {
    for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, &comms[i]);
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
  } else {
    puts("no MPI_THREAD_MULTIPLE");
  }
  MPI_Finalize();
  return 0;
}
