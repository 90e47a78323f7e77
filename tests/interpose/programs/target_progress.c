/* A target that is in a blocking call of MPI: rank 0 waits in each of them, for what rank 1 does only when all other
 * ranks have added to rank 0's window and read it back. Where nothing progresses there, all stand still.
 * Prints "target of NAME: as it should be" for each; ends with code 1 if memory is wrong.
 * Argument: "multiple" for MPI_THREAD_MULTIPLE. Two ranks or more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 18, GAP = 3, COUNTERS = 4 };

static int rank, size;
static int *message, *answer; /* LARGE ints each */
static MPI_Win notices;       /* for post, start, complete, wait */

/* What rank 0 waits in, and what rank 1, or all others, do then. */
static void recv_waits(void) { MPI_Recv(message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static void any_recv_waits(void) {
  MPI_Recv(message, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void sends(void) {
  if (rank == 1) MPI_Send(message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}
static void wait_waits(void) {
  MPI_Request request;
  MPI_Irecv(message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void start_both(MPI_Request requests[2]) {
  for (int i = 0; i < 2; ++i) MPI_Irecv(&message[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
}
static void waitall_waits(void) {
  MPI_Request requests[2];
  start_both(requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void waitany_waits(void) {
  MPI_Request requests[2];
  int index;
  start_both(requests);
  for (int i = 0; i < 2; ++i) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}
static void waitsome_waits(void) {
  MPI_Request requests[2];
  int indices[2], done = 0;
  start_both(requests);
  for (int all = 0; all < 2; all += done) MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
}
static void sends_both(void) {
  for (int i = 0; rank == 1 && i < 2; ++i) MPI_Send(message, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
}
static void persistent_waits(void) {
  MPI_Request request;
  MPI_Recv_init(message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}
static void probe_waits(void) {
  MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  recv_waits();
}
static void mprobe_waits(void) {
  MPI_Message found;
  MPI_Mprobe(1, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  MPI_Mrecv(message, 1, MPI_INT, &found, MPI_STATUS_IGNORE);
}
static void ssend_waits(void) { MPI_Ssend(message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
static void receives(void) {
  if (rank == 1) MPI_Recv(answer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void large_send_waits(void) { MPI_Send(message, LARGE, MPI_INT, 1, 0, MPI_COMM_WORLD); }
static void receives_much(void) {
  if (rank == 1) MPI_Recv(answer, LARGE, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void sendrecv_both(void) {
  if (rank > 1) return;
  MPI_Sendrecv(message, 1, MPI_INT, !rank, 0, answer, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void replace_both(void) {
  if (rank > 1) return;
  MPI_Sendrecv_replace(message, 1, MPI_INT, !rank, 0, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void barrier_all(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast_all(void) { MPI_Bcast(message, 1, MPI_INT, 1, MPI_COMM_WORLD); }
static void allreduce_all(void) { MPI_Allreduce(message, answer, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void alltoall_all(void) { MPI_Alltoall(message, 1, MPI_INT, answer, 1, MPI_INT, MPI_COMM_WORLD); }
static void ibarrier_all(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static MPI_Group only(int other) {
  MPI_Group all, one;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &other, &one);
  MPI_Group_free(&all);
  return one;
}
static void win_wait_waits(void) {
  MPI_Group one = only(1);
  MPI_Win_post(one, 0, notices);
  MPI_Win_wait(notices);
  MPI_Group_free(&one);
}
static void completes(void) {
  if (rank != 1) return;
  MPI_Group zero = only(0);
  MPI_Win_start(zero, 0, notices);
  MPI_Win_complete(notices);
  MPI_Group_free(&zero);
}

static const struct BlockingCall {
  const char* name;
  void (*wait)(void);    /* rank 0 */
  void (*release)(void); /* all others */
} calls[] = {
    {"Recv", recv_waits, sends},
    {"Recv from any", any_recv_waits, sends},
    {"Wait", wait_waits, sends},
    {"Waitall", waitall_waits, sends_both},
    {"Waitany", waitany_waits, sends_both},
    {"Waitsome", waitsome_waits, sends_both},
    {"Wait after Start", persistent_waits, sends},
    {"Probe", probe_waits, sends},
    {"Mprobe", mprobe_waits, sends},
    {"Ssend", ssend_waits, receives},
    {"Send of much", large_send_waits, receives_much},
    {"Sendrecv", sendrecv_both, sendrecv_both},
    {"Sendrecv_replace", replace_both, replace_both},
    {"Barrier", barrier_all, barrier_all},
    {"Bcast", bcast_all, bcast_all},
    {"Allreduce", allreduce_all, allreduce_all},
    {"Alltoall", alltoall_all, alltoall_all},
    {"Wait after Ibarrier", ibarrier_all, ibarrier_all},
    {"Win_wait", win_wait_waits, completes},
};

/* Adds to every third int of the target, in an epoch of its own, and reads it in another: derived types and
 * accumulation are what libraries have the target do. Whether all that this rank has added is there. */
static int access_target(MPI_Win win, MPI_Datatype counters, int times) {
  int ones[COUNTERS], seen[COUNTERS], right = 1;
  for (int i = 0; i < COUNTERS; ++i) ones[i] = 1, seen[i] = -1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Accumulate(ones, COUNTERS, MPI_INT, 0, 0, 1, counters, MPI_SUM, win);
  MPI_Win_unlock(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Get(seen, COUNTERS, MPI_INT, 0, 0, 1, counters, win);
  MPI_Win_flush(0, win);
  MPI_Win_unlock(0, win);
  for (int i = 0; i < COUNTERS; ++i) right &= seen[i] >= times;
  return right;
}

int main(int argc, char** argv) {
  int provided, wrong = 0, any_wrong;
  const int level = argc > 1 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || provided < level) MPI_Abort(MPI_COMM_WORLD, 2);
  message = calloc(LARGE, sizeof(int)), answer = calloc(LARGE, sizeof(int));
  int memory[COUNTERS * GAP] = {0};
  MPI_Win win;
  MPI_Datatype counters;
  MPI_Comm others;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &notices);
  MPI_Type_vector(COUNTERS, 1, GAP, MPI_INT, &counters);
  MPI_Type_commit(&counters);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &others);
  const int n = (int)(sizeof calls / sizeof *calls);
  for (int i = 0; i < n; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      calls[i].wait();
    } else {
      wrong |= !access_target(win, counters, i + 1);
      MPI_Barrier(others);
      calls[i].release();
    }
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (int k = 0; rank == 0 && k < COUNTERS * GAP; ++k)
      wrong |= memory[k] != (k % GAP == 0 ? (i + 1) * (size - 1) : 0);
    MPI_Win_unlock(rank, win);
    MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (rank == 0) printf("target of %s: %s\n", calls[i].name, any_wrong ? "wrong" : "as it should be");
  }
  MPI_Comm_free(&others);
  MPI_Type_free(&counters);
  MPI_Win_free(&notices);
  MPI_Win_free(&win);
  free(message), free(answer);
  MPI_Finalize();
  return wrong;
}
