/* One-sided calls to random ranks of windows that come and go: what calls repeat is for whoever watches to find out.
 * Says what it did: a function, its calls and its bytes; "to", a rank, its operations and bytes.
 *
 *   repeated_windows FOLDER SEED */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "expected_calls.h"

enum { rounds = 12, calls = 400, most = 64, functions = 19 };

/* Open MPI 4.1 ends in a signal after some of them, without Wherry, too. */
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
enum { has_compare_and_swap = 0 };
#else
enum { has_compare_and_swap = 1 };
#endif

static const char* const names[functions] = {"MPI_Put",           "MPI_Get",
                                             "MPI_Accumulate",    "MPI_Get_accumulate",
                                             "MPI_Fetch_and_op",  "MPI_Compare_and_swap",
                                             "MPI_Rput",          "MPI_Rget",
                                             "MPI_Raccumulate",   "MPI_Rget_accumulate",
                                             "MPI_Win_flush",     "MPI_Win_flush_local",
                                             "MPI_Win_flush_all", "MPI_Win_flush_local_all",
                                             "MPI_Win_lock_all",  "MPI_Win_unlock_all",
                                             "MPI_Win_lock",      "MPI_Win_unlock",
                                             "MPI_Win_sync"};
enum {
  put,
  get,
  accumulate,
  get_accumulate,
  fetch_and_op,
  compare_and_swap,
  rput,
  rget,
  raccumulate,
  rget_accumulate,
  flush,
  flush_local,
  flush_all,
  flush_local_all,
  lock_all,
  unlock_all,
  lock,
  unlock,
  sync_window
};

static void note_moved(int function, int target, long bytes) {
  note(function, bytes);
  note_sent(target, bytes);
}

/* What rank `owner` has at i in the window that nobody writes to. */
static long value_of(int owner, int i) { return 1000L * owner + i; }

static void write_by_request(MPI_Win win, int target, int count) {
  static long out[most], in[most];
  MPI_Request request;
  switch (random_below(3)) {
    case 0:
      MPI_Rput(out, count, MPI_LONG, target, 0, count, MPI_LONG, win, &request);
      note_moved(rput, target, 8L * count);
      break;
    case 1:
      MPI_Raccumulate(out, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_SUM, win, &request);
      note_moved(raccumulate, target, 8L * count);
      break;
    default:
      MPI_Rget_accumulate(out, count, MPI_LONG, in, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_SUM, win,
                          &request);
      note_moved(rget_accumulate, target, 16L * count);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void write_some(MPI_Win win, int target) {
  static const int counts[] = {0, 1, 2, 3, 16, 17, most};
  static long out[most], in[2 * most], one;
  const int count = counts[random_below(7)];
  switch (random_below(9)) {
    case 0:
      MPI_Put(out, count, MPI_LONG, target, 0, count, MPI_LONG, win);
      note_moved(put, target, 8L * count);
      break;
    case 1:
      MPI_Accumulate(out, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_SUM, win);
      note_moved(accumulate, target, 8L * count);
      break;
    case 2:
      MPI_Get_accumulate(out, count, MPI_LONG, in, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_SUM, win);
      note_moved(get_accumulate, target, 16L * count);
      break;
    case 3: /* only reads; the origin's arguments mean nothing */
      MPI_Get_accumulate(NULL, 0, MPI_INT, in, count, MPI_LONG, target, 0, count, MPI_LONG, MPI_NO_OP, win);
      note_moved(get_accumulate, target, 8L * count);
      break;
    case 4:
      MPI_Fetch_and_op(&one, in, MPI_LONG, target, 0, MPI_SUM, win);
      note_moved(fetch_and_op, target, 16);
      break;
    case 5:
      if (has_compare_and_swap) {
        MPI_Compare_and_swap(&one, &one, in, MPI_LONG, target, 0, win);
        note_moved(compare_and_swap, target, 16);
      }
      break;
    case 6: { /* one line, two types of the origin: each moves as much as it says */
      const int pairs = random_below(2);
      MPI_Get_accumulate(out, pairs ? count / 2 : count, pairs ? MPI_2INT : MPI_INT, in, count, MPI_INT,
                         target, 0, count, MPI_INT, MPI_NO_OP, win);
      note_moved(get_accumulate, target, 4L * count);
      break;
    }
    case 7: write_by_request(win, target, count); break;
    default: /* a gap in each element */
      for (int i = 0; i < 3; ++i) {
        MPI_Datatype pairs;
        MPI_Type_vector(2, 1, 2, MPI_LONG, &pairs);
        MPI_Type_commit(&pairs);
        MPI_Put(out, 1, pairs, target, 0, 2, MPI_LONG, win);
        note_moved(put, target, 16);
        note_derived(16);
        MPI_Win_flush(target, win);
        note(flush, 0);
        MPI_Type_free(&pairs);
      }
  }
}

static void read_some(MPI_Win win, int target) {
  static long in[most];
  const int count = 1 + random_below(3), at = random_below(most - 3);
  for (int i = 0; i < count; ++i) in[i] = -1;
  if (random_below(4) == 0) {
    MPI_Request request;
    MPI_Rget(in, count, MPI_LONG, target, at, count, MPI_LONG, win, &request);
    note_moved(rget, target, 8L * count);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Get(in, count, MPI_LONG, target, at, count, MPI_LONG, win);
    note_moved(get, target, 8L * count);
    MPI_Win_flush(target, win);
    note(flush, 0);
  }
  for (int i = 0; i < count; ++i)
    if (in[i] != value_of(target, at + i)) {
      fprintf(stderr, "%ld at %d of rank %d\n", in[i], at + i, target);
      MPI_Abort(MPI_COMM_WORLD, 4);
    }
}

static void complete_some(MPI_Win win, int target) {
  switch (random_below(4)) {
    case 0: MPI_Win_flush(target, win), note(flush, 0); break;
    case 1: MPI_Win_flush_local(target, win), note(flush_local, 0); break;
    case 2: MPI_Win_flush_all(win), note(flush_all, 0); break;
    default: MPI_Win_flush_local_all(win), note(flush_local_all, 0);
  }
}

static void work(int rank, int size) {
  long *written, *read;
  MPI_Win writes, reads;
  MPI_Win_allocate(most * (long)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &written, &writes);
  MPI_Win_allocate(most * (long)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &read, &reads);
  for (int i = 0; i < most; ++i) written[i] = 0, read[i] = value_of(rank, i);
  PMPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, reads), note(lock_all, 0);
  for (int i = 0; i < calls; ++i) {
    const int target = random_below(size);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, writes), note(lock, 0);
    write_some(writes, target);
    MPI_Win_unlock(target, writes), note(unlock, 0);
    MPI_Win_sync(reads), note(sync_window, 0);
  }
  MPI_Win_lock_all(0, writes), note(lock_all, 0);
  for (int i = 0; i < calls; ++i) {
    const int target = random_below(size);
    write_some(writes, target);
    complete_some(writes, target);
    read_some(reads, target);
  }
  MPI_Win_unlock_all(reads), note(unlock_all, 0);
  MPI_Win_unlock_all(writes), note(unlock_all, 0);
  MPI_Win_free(&reads);
  MPI_Win_free(&writes);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (uint64_t)atoll(argv[2]) + (uint64_t)rank;
  for (int i = 0; i < rounds; ++i) work(rank, size);
  tell(argv[1], rank, size, functions, names);
  MPI_Finalize();
  return 0;
}
