/* Fences while other processes want the cores, until Wherry has the library give them away by its callback, and then
   alone, until that is gone. Needs callbacks.c preloaded.

   Prints on rank 0 "came CALLS", "went CALLS" and "flags N", the floating-point exceptions that fences have raised
   there; ends with code 1 if one of the first two does not happen within two minutes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fenv.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGERS = 3 };
static const double patience_s = 120;

static pid_t stranger(void) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(2 * (unsigned)patience_s);
    for (volatile long i = 0;; ++i) {
    }
  }
  return child;
}

/* Whether any rank says yes. */
static int any(int yes) {
  int found = 0;
  MPI_Allreduce(&yes, &found, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  return found;
}

static int raised;

static void fence(MPI_Win win) {
  feclearexcept(FE_ALL_EXCEPT);
  MPI_Win_fence(0, win);
  raised |= fetestexcept(FE_ALL_EXCEPT);
}

/* Fences until the counter is above 0 on some rank (wanted), or 0 on all. Returns the calls; 0: it did not happen. */
static long fences(MPI_Win win, int (*counter)(void), int wanted) {
  const double begin = MPI_Wtime();
  for (long calls = 1;; ++calls) {
    fence(win);
    if (calls % 64 != 0) continue;
    if (any(counter() > 0) == wanted) return calls;
    if (any(MPI_Wtime() - begin > patience_s)) return 0;
  }
}

int main(int argc, char** argv) {
  int (*ever)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "callbacks_ever");
  int (*now)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "callbacks_now");
  pid_t strangers[STRANGERS];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ever == NULL || now == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  double memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < STRANGERS; ++i) strangers[i] = stranger();
  const long came = fences(win, ever, 1);
  for (int i = 0; i < STRANGERS; ++i) kill(strangers[i], SIGKILL), waitpid(strangers[i], NULL, 0);
  const long went = came == 0 ? 0 : fences(win, now, 0);
  if (rank == 0) printf("came %ld\nwent %ld\nflags %d\n", came, went, raised);
  MPI_Win_free(&win);
  MPI_Finalize();
  return came == 0 || went == 0;
}
