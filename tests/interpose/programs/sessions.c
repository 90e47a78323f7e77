/* A program without MPI_COMM_WORLD: one session, three barriers and a ring on a communicator of its own.

   sessions again: then MPI_COMM_WORLD, a second later. Where one rank begins anew while another still ends, MPICH 5.0
   mixes up their messages: without Wherry 8 of 40 runs on 3 ranks hung in MPI_Init. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int one_session(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, size, out, in = -1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "wherry.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 3; ++i) MPI_Barrier(comm);
  int all[64], mine[64];
  for (int i = 0; i < size; ++i) mine[i] = 10 * rank + i;
  for (int i = 0; i < 4; ++i) MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
  out = rank;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, comm,
               MPI_STATUS_IGNORE);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return in == (rank + size - 1) % size && all[size - 1] == 10 * (size - 1) + rank ? 0 : 1;
}

int main(int argc, char** argv) {
  const int wrong = one_session();
  int rank, size, sum;
  MPI_Win win;
  if (argc < 2) return wrong;
  sleep(1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Win_create(&sum, sizeof sum, sizeof sum, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < 100; ++i) MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return sum == size * (size - 1) / 2 ? wrong : 1;
}
