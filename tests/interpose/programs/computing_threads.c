/* Two threads compute for half a second of processor time each, and stay, as those of OpenMP do; a third one sleeps. */
#include <mpi.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t computed;

static void compute(void) {
  struct timespec used = {0, 0};
  volatile double x = 1;
  while (used.tv_sec == 0 && used.tv_nsec < 500000000) {
    for (int i = 0; i < 100000; ++i) x = x * 1.0000001;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  }
  pthread_barrier_wait(&computed);
}

static void* work(void* nothing) {
  compute();
  sleep(3600);
  return nothing;
}

static void* rest(void* nothing) {
  sleep(3600);
  return nothing;
}

int main(int argc, char** argv) {
  int level = 0;
  pthread_t worker, idle;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  pthread_create(&idle, NULL, rest, NULL);
  pthread_barrier_init(&computed, NULL, 2);
  pthread_create(&worker, NULL, work, NULL);
  compute();
  MPI_Finalize();
  return 0;
}
