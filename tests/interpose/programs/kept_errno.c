/* errno is the program's: prints the calls after which it was another one than before, by rank.
 *
 * Arguments: how often each call is made; "alarms": a timer interrupts the process each millisecond meanwhile, and its
 * handler says, too, if errno has changed around an MPI call of its own. MPI's functions do not set errno, but what
 * they call may: which of them let that through differs between libraries and runs. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { MINE = 77, MOST = 4096 };

static int rank, size, data[2][MOST], counts[64], places[64];
static int turn;
static MPI_Comm ring;
static MPI_Win win;
static MPI_Datatype strided;
static volatile sig_atomic_t changed_in_handler;

static int* out = data[0];
static int* in = data[1];
static int next_rank(void) { return (rank + 1) % size; }
static int last_rank(void) { return (rank + size - 1) % size; }
/* As many as fit each rank, now and then a long message. */
static int many(void) { return turn % 32 == 0 ? MOST / 64 : 4; }

/* The other ranks have to wait, longer than the 10 ms that Wherry yields before it sleeps. In 100 turns each rank waits
 * so with short messages and with long ones. */
static void come_late(void) {
  if (turn % 24 == 0 && rank == turn / 24 % size) nanosleep(&(struct timespec){0, 12000000}, NULL);
}

static void initialized(void) { MPI_Initialized(&(int){0}); }
static void finalized(void) { MPI_Finalized(&(int){0}); }
static void get_version(void) { MPI_Get_version(&(int){0}, &(int){0}); }
static void comm_rank(void) { MPI_Comm_rank(MPI_COMM_WORLD, &(int){0}); }
static void wtime(void) { MPI_Wtime(); }
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(out, many(), MPI_INT, turn % size, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(out, in, many(), MPI_INT, MPI_SUM, turn % size, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(out, in, many(), MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void alltoall(void) { MPI_Alltoall(out, many(), MPI_INT, in, many(), MPI_INT, MPI_COMM_WORLD); }
static void allgather(void) { MPI_Allgather(out, many(), MPI_INT, in, many(), MPI_INT, MPI_COMM_WORLD); }
static void alltoallv(void) {
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
}
static void scan(void) { MPI_Scan(out, in, many(), MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void neighbor(void) { MPI_Neighbor_alltoall(out, many(), MPI_INT, in, many(), MPI_INT, ring); }
static void sendrecv(void) {
  MPI_Sendrecv(out, many(), MPI_INT, next_rank(), 1, in, many(), MPI_INT, last_rank(), 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
static void sendrecv_replace(void) {
  MPI_Sendrecv_replace(out, many(), MPI_INT, next_rank(), 1, last_rank(), 1, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
}
static void send_strided(void) {
  MPI_Request request;
  MPI_Irecv(in, many(), MPI_INT, last_rank(), 2, MPI_COMM_WORLD, &request);
  MPI_Send(out, many() / 4, strided, next_rank(), 2, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void probe(void) {
  MPI_Request request;
  MPI_Isend(out, 4, MPI_INT, next_rank(), 3, MPI_COMM_WORLD, &request);
  MPI_Probe(last_rank(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(in, 4, MPI_INT, last_rank(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}
static void iallreduce(void) {
  MPI_Request request;
  MPI_Iallreduce(out, in, many(), MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void fence(void) { MPI_Win_fence(0, win); }
static void get(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, win);
  for (int i = 0; i < 4; ++i) MPI_Get(in, 4, MPI_INT, next_rank(), i, 4, MPI_INT, win);
  MPI_Win_unlock(next_rank(), win);
}
static void duplicate(void) {
  MPI_Comm twin;
  if (turn % 16 != 0) return;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Barrier(twin);
  MPI_Comm_free(&twin);
}
static void wrong(void) { MPI_Alltoall(out, -1, MPI_INT, in, -1, MPI_INT, MPI_COMM_WORLD); }

struct Step {
  const char* name;
  void (*call)(void);
  int changed;
};

static struct Step early[] = {
    {"Initialized", initialized, 0}, {"Finalized", finalized, 0}, {"Get_version", get_version, 0}};
static struct Step later[] = {
    {"Comm_rank", comm_rank, 0},
    {"Wtime", wtime, 0},
    {"Barrier", barrier, 0},
    {"Bcast", bcast, 0},
    {"Reduce", reduce, 0},
    {"Allreduce", allreduce, 0},
    {"Alltoall", alltoall, 0},
    {"Allgather", allgather, 0},
    {"Alltoallv", alltoallv, 0},
    {"Scan", scan, 0},
    {"Neighbor", neighbor, 0},
    {"Sendrecv", sendrecv, 0},
    {"Sendrecv_replace", sendrecv_replace, 0},
    {"Send strided", send_strided, 0},
    {"Probe", probe, 0},
    {"Iallreduce", iallreduce, 0},
    {"Win_fence", fence, 0},
    {"Get", get, 0},
    {"Comm_dup", duplicate, 0},
    {"wrong Alltoall", wrong, 0},
};

static void try_all(struct Step* steps, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (size > 0) come_late();
    errno = MINE;
    steps[i].call();
    if (errno != MINE) steps[i].changed = errno;
  }
}

static void print_changed(const struct Step* steps, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (steps[i].changed != 0) printf("rank %d: %s: %s\n", rank, steps[i].name, strerror(steps[i].changed));
}

static void on_alarm(int s) {
  (void)s;
  const int before = errno;
  errno = MINE - 1;
  MPI_Wtime();
  if (errno != MINE - 1) changed_in_handler = errno;
  errno = before;
}

static void begin_alarms(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
}

static void make_ring(void) {
  const int peers[2] = {last_rank(), next_rank()};
  const int n = size > 2 ? 2 : 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, peers, MPI_UNWEIGHTED, n, peers, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
}

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 100;
  try_all(early, sizeof early / sizeof *early);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < size; ++i) {
    counts[i] = 3;
    places[i] = 4 * i;
  }
  make_ring();
  MPI_Type_vector(4, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_Win_create(out, sizeof data[0], sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (argc > 2 && strcmp(argv[2], "alarms") == 0) begin_alarms();
  for (turn = 0; turn < calls; ++turn) try_all(later, sizeof later / sizeof *later);
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  print_changed(early, sizeof early / sizeof *early);
  print_changed(later, sizeof later / sizeof *later);
  if (changed_in_handler != 0) printf("rank %d: in a handler: %s\n", rank, strerror(changed_in_handler));
  MPI_Win_free(&win);
  MPI_Comm_free(&ring);
  MPI_Type_free(&strided);
  MPI_Finalize();
  printf("rank %d: end\n", rank);
  return 0;
}
