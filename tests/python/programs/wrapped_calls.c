// Calls MPI through a wrapper, which two functions call by turns: one three times as often as the other. Built with
// -DWRAPPER it is a library with the wrapper alone, with -DPROGRAM the program without it.
#include <mpi.h>

#define KEEP __attribute__((noinline))

double global_sum(double x);

#ifndef PROGRAM
KEEP double global_sum(double x) {
  double sum;
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
#endif

#ifndef WRAPPER
static KEEP double energy(double x) { return global_sum(x) / 2 + 1; }
static KEEP double momentum(double x) { return global_sum(x) / 4; }
static KEEP double deep(double x, int depth) { return depth == 0 ? energy(x) : deep(x, depth - 1) + 0.5; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double x = 1;
  for (int i = 0; i < 5000; i++) {
    x = i % 2 == 0 ? energy(x) : deep(x, 1000);
    for (int j = 0; j < 3; j++) x = momentum(x);
  }
  MPI_Finalize();
  return 0;
}
#endif
