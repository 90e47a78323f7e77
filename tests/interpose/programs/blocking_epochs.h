/* The blocking calls of one-sided communication. */
#ifndef BLOCKING_EPOCHS_H
#define BLOCKING_EPOCHS_H

#include "blocking_notes.h"

static void reset(int* memory) {
  for (int i = 0; i < size; ++i) memory[i] = -1;
  MPI_Barrier(comm);
}

/* Epochs that others see: each rank puts its number into all. */
static void active_epochs(MPI_Win win, int* memory, int value) {
  MPI_Group all;
  MPI_Comm_group(comm, &all);
  reset(memory);
  note("Win_post", MPI_Win_post(all, 0, win));
  note("Win_start", MPI_Win_start(all, 0, win));
  for (int r = 0; r < size; ++r) MPI_Put(&value, 1, MPI_INT, r, rank, 1, MPI_INT, win);
  note("Win_complete", MPI_Win_complete(win));
  note("Win_wait", MPI_Win_wait(win));
  note_ints(memory, size);
  MPI_Group_free(&all);
  reset(memory);
  for (int turn = 0; turn < 3; ++turn) {
    note("Win_fence", MPI_Win_fence(turn == 0   ? MPI_MODE_NOPRECEDE
                                    : turn == 2 ? MPI_MODE_NOSUCCEED
                                                : 0,
                                    win));
    if (turn == 1) note_ints(memory, size), MPI_Barrier(comm); /* before the next puts */
    if (turn < 2) value += 10;
    for (int r = 0; r < size && turn < 2; ++r) MPI_Put(&value, 1, MPI_INT, r, rank, 1, MPI_INT, win);
  }
  note_ints(memory, size);
}

/* Epochs of one rank: a counter at rank 0, which does not call MPI on the window meanwhile. */
static void passive_epochs(MPI_Win win, int* memory) {
  const int one = 1;
  int seen = -1;
  reset(memory);
  for (int turn = 0; turn < 4; ++turn) {
    if (turn < 3) note("Win_lock", MPI_Win_lock(turn ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
    else note("Win_lock_all", MPI_Win_lock_all(0, win));
    MPI_Accumulate(&one, 1, MPI_INT, 0, turn % size, 1, MPI_INT, MPI_SUM, win);
    if (turn == 1) note("Win_flush", MPI_Win_flush(0, win));
    if (turn == 2) note("Win_flush_local", MPI_Win_flush_local(0, win));
    if (turn == 3) {
      note("Win_flush_all", MPI_Win_flush_all(win));
      note("Win_flush_local_all", MPI_Win_flush_local_all(win));
      MPI_Get(&seen, 1, MPI_INT, 0, turn % size, 1, MPI_INT, win);
    }
    if (turn < 3) note("Win_unlock", MPI_Win_unlock(0, win));
    else note("Win_unlock_all", MPI_Win_unlock_all(win));
  }
  fprintf(out, "seen %d\n", seen >= 0);
  MPI_Barrier(comm);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  if (rank == 0) note_ints(memory, size);
  MPI_Win_unlock(rank, win);
  MPI_Barrier(comm); /* before the next accumulate */
}

/* Rank 0 computes while others want its memory: they must get it, by the progress that they or the library make. */
static void busy_target(MPI_Win win) {
  const int one = 1;
  if (rank == 0) {
    const double until = MPI_Wtime() + 0.05;
    int flag = 0;
    while (MPI_Wtime() < until) MPI_Iprobe(MPI_ANY_SOURCE, 99, comm, &flag, MPI_STATUS_IGNORE);
  } else {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    note("Win_unlock at a busy one", MPI_Win_unlock(0, win));
  }
  MPI_Barrier(comm);
}

/* One allocated by the library, one made of the program's memory. */
enum { WINDOWS = 2 };
struct Windows {
  MPI_Win made[WINDOWS];
  int* memory[WINDOWS];
};

static void make_windows(struct Windows* w) {
  const int bytes = size * (int)sizeof(int);
  note("Win_allocate", MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, comm, &w->memory[0], &w->made[0]));
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &w->memory[1]);
  note("Win_create", MPI_Win_create(w->memory[1], bytes, sizeof(int), MPI_INFO_NULL, comm, &w->made[1]));
}

static void free_windows(struct Windows* w) {
  for (int i = 0; i < WINDOWS; ++i) note("Win_free", MPI_Win_free(&w->made[i]));
  MPI_Free_mem(w->memory[1]);
}

static void epochs(struct Windows* w) {
  for (int i = 0; i < WINDOWS; ++i) {
    active_epochs(w->made[i], w->memory[i], rank + 500);
    passive_epochs(w->made[i], w->memory[i]);
    busy_target(w->made[i]);
  }
}

#endif
