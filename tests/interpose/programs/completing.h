/* All ways to complete requests. */
#ifndef COMPLETING_H
#define COMPLETING_H

#include <mpi.h>

enum { OUTSTANDING = 100, WAYS = 9 };

static unsigned state = 20261122u;

static unsigned draw(void) { return state = state * 1664525u + 1013904223u, state >> 8; }

/* 0 to n - 1 in an order of this rank's own. */
static void shuffle(int rank, int n, int order[]) {
  for (int i = 0; i < n; ++i) order[i] = i;
  for (int i = n - 1; i > 0; --i) {
    const int j = (int)((draw() + (unsigned)rank * 2654435761u) % (unsigned)(i + 1)), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

/* Ways to complete them. The requests are in an order of this rank's own, with a receive from anybody among them. */
static void complete(int way, int n, MPI_Request* r) {
  int indices[OUTSTANDING + 1], index = 0, flag = 0, done = 0;
  static MPI_Status statuses[OUTSTANDING + 1];
  switch (way) {
    case 0: MPI_Waitall(n, r, MPI_STATUSES_IGNORE); break;
    case 1:
      for (int i = 0; i < n; ++i) MPI_Waitany(n, r, &index, &statuses[0]);
      break;
    case 2:
      while (done != MPI_UNDEFINED) MPI_Waitsome(n, r, &done, indices, statuses);
      break;
    case 3:
      while (!flag) MPI_Testall(n, r, &flag, statuses);
      break;
    case 4:
      while (index != MPI_UNDEFINED) do
          MPI_Testany(n, r, &index, &flag, &statuses[0]);
        while (!flag);
      break;
    case 5:
      while (done != MPI_UNDEFINED) MPI_Testsome(n, r, &done, indices, statuses);
      break;
    case 6:
      for (int i = n - 1; i >= 0; --i)
        for (flag = 0; !flag;) MPI_Test(&r[i], &flag, &statuses[0]);
      break;
    case 7:
      for (int i = 0; i < n; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(r[i], &flag, &statuses[0]);
        MPI_Wait(&r[i], &statuses[0]);
      }
      break;
    default:
      for (int i = n - 1; i >= 0; --i) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
  }
}

#endif
