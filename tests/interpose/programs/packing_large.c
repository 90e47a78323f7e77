// Data that Wherry may pack by several threads: the same bytes, no signal in a helper, the same mask of signals, and
// fork as before. Prints how many threads were started for it, and how many cores this process may use.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { n = 1700, calls = 12 };

static volatile sig_atomic_t alarms, strangers;
static long last_thread;  // of those that the library has started; they may take signals

static int started;  // threads

typedef int create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// Everybody's, in place of the C library's.
__attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                          void* (*start)(void*), void* given) {
  ++started;
  return ((create*)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, start, given);
}

static int cores(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

static void on_alarm(int number) {
  (void)number;
  ++alarms;
  if (syscall(SYS_gettid) > last_thread) ++strangers;
}

static void* sees_number(void* unused) {
  (void)unused;
  last_thread = syscall(SYS_gettid);
  return NULL;
}

static void fail(const char* what) {
  printf("%s\n", what);
  exit(1);
}

static double value(int row, int column) { return row * 10000.0 + column; }

static void check_transposed(const double* packed) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (packed[(long)i * n + j] != value(j, i)) fail("packed bytes are wrong");
}

static void pack_and_unpack(MPI_Datatype columns, double* matrix, double* packed) {
  const int bytes = n * n * (int)sizeof(double);
  int position = 0;
  memset(packed, 0, (size_t)bytes);
  MPI_Pack(matrix, n, columns, packed, bytes, &position, MPI_COMM_SELF);
  if (position != bytes) fail("position is wrong");
  check_transposed(packed);
  memset(matrix, 0, (size_t)bytes);
  position = 0;
  MPI_Unpack(packed, bytes, &position, matrix, n, columns, MPI_COMM_SELF);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (matrix[(long)i * n + j] != value(i, j)) fail("unpacked bytes are wrong");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Datatype column, columns;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &columns);
  MPI_Type_commit(&columns);
  double* const matrix = malloc(sizeof(double) * n * n);
  double* const packed = malloc(sizeof(double) * n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) matrix[(long)i * n + j] = value(i, j);
  pthread_t thread;  // numbers grow
  if (pthread_create(&thread, NULL, sees_number, NULL) != 0 || pthread_join(thread, NULL) != 0)
    fail("no thread");
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, NULL);
  sigset_t before, after;
  sigprocmask(SIG_SETMASK, NULL, &before);
  const int started_before = started;
  for (int call = 0; call < calls; ++call) pack_and_unpack(columns, matrix, packed);
  const int helpers = started - started_before;
  sigprocmask(SIG_SETMASK, NULL, &after);
  for (int number = 1; number < 32; ++number)
    if (sigismember(&before, number) != sigismember(&after, number)) fail("the mask of signals has changed");
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  if (alarms == 0) fail("no signal came");
  if (strangers != 0) fail("a helper took a signal");
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0) fail("a child did not end");
  pack_and_unpack(columns, matrix, packed);
  printf("right, %d helpers, %d cores\n", helpers, cores());
  MPI_Type_free(&column);
  MPI_Type_free(&columns);
  MPI_Finalize();
  free(matrix);
  free(packed);
  return 0;
}
