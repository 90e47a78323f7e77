/* What progresses a nonblocking broadcast from rank 0 over rank 1 to rank 2, and how a program with one under way may
 * end.
 * Arguments: FILE, seconds: rank 1 calls nothing of MPI until rank 2 has made FILE, or the time is over; it says which.
 *            exit FILE: all ranks exit with the call under way; rank 0 makes FILE.all when all have left MPI behind.
 *            fork: a child exits while its parent's call is under way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH = 100 };

static int rank, size;
static int data[LENGTH];

static MPI_Request start(void) {
  MPI_Request request;
  for (int i = 0; i < LENGTH; ++i) data[i] = rank == 0 ? 7 * i : -1;
  MPI_Ibcast(data, LENGTH, MPI_INT, 0, MPI_COMM_WORLD, &request);
  return request;
}

static int is_right(void) {
  int right = 1;
  for (int i = 0; i < LENGTH; ++i) right &= data[i] == 7 * i;
  return right;
}

static void enable(void) {
  int *to = calloc((size_t)size, sizeof(int)), *from = calloc((size_t)size, sizeof(int));
  for (int i = 0; i < 2; ++i) MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  free(to);
  free(from);
}

static void make(const char* path) { fclose(fopen(path, "w")); }

/* Nothing of MPI until the file is there, or the time is over; whether it is there. */
static int compute(const char* path, int seconds) {
  const struct timespec pause = {0, 1000000};
  const time_t end = time(NULL) + seconds;
  while (access(path, F_OK) != 0 && time(NULL) < end) nanosleep(&pause, NULL);
  return access(path, F_OK) == 0;
}

/* Rank 0 starts last, so that rank 1 has nothing to hand on in the call that starts. */
static int hand_on(const char* path, int seconds) {
  MPI_Request request;
  char ready[4096];
  int handed_on = -1;
  snprintf(ready, sizeof ready, "%s.ready", path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && !compute(ready, 60)) MPI_Abort(MPI_COMM_WORLD, 1);
  request = start();
  if (rank == 1) make(ready), handed_on = compute(path, seconds);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 2) make(path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) printf("rank 1 handed on %s\n", handed_on ? "while it computed" : "when it waited");
  return is_right() ? 0 : 1;
}

static const char* left; /* the beginning of the names of files */

static void name_of(int of, char name[4096]) { snprintf(name, 4096, "%s.%d", left, of); }

/* The last of the exit handlers. Launchers kill the others when one rank is gone without MPI_Finalize: so none goes
 * before rank 0 has said that all are here. */
static void leave_together(void) {
  char name[4096];
  int here = 1;
  name_of(rank, name);
  make(name);
  for (int other = 0; other < size; ++other) name_of(other, name), here &= compute(name, 30);
  /* Not on stdout: what a launcher has not read when the first rank is gone is lost. */
  snprintf(name, sizeof name, "%s.all", left);
  if (rank == 0 && here) make(name);
  compute(name, 30);
}

/* Rank 0 does not take part, so that no call is over. */
static void leave_under_way(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank != 0) request = start();
  exit(request == MPI_REQUEST_NULL && rank != 0);
}

static int fork_one(void) {
  MPI_Request request = start();
  int status = -1;
  const pid_t child = fork();
  if (child == 0) exit(0); /* by way of the exit handlers */
  waitpid(child, &status, 0);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return status == 0 && is_right() ? 0 : 1;
}

int main(int argc, char** argv) {
  int code = 0;
  const int exits = strcmp(argv[1], "exit") == 0;
  if (exits) left = argv[2], atexit(leave_together); /* before any handler of MPI or Wherry */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  enable();
  if (exits) leave_under_way();
  else if (argc == 3) code = hand_on(argv[1], atoi(argv[2]));
  else
    for (int i = 0; i < 20; ++i) code |= fork_one();
  MPI_Finalize();
  return code;
}
