/* Damped waves on a torus, cut into slabs of rows; each step allocates its work arrays and frees them,
 * as many codes do.
 *   mpiexec -n 2 waves [STEPS]
 * Prints the time of the loop and the energy at the end. waves.cpp and waves.f90 are the same in other languages. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256, COLUMNS = 256 }; /* of each rank: an array is 0.5 MB */

static const double dt = 0.2, damping = 0.001;
static int rank, ranks;

static double* work_array(void) {
  double* made = malloc(sizeof(double) * ROWS * COLUMNS);
  if (made == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return made;
}

/* height has a row more at either end, which is the neighbor's. */
static void exchange_edges(double* height) {
  const int up = (rank + 1) % ranks, down = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(height + ROWS * COLUMNS, COLUMNS, MPI_DOUBLE, up, 0, height, COLUMNS, MPI_DOUBLE, down, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(height + COLUMNS, COLUMNS, MPI_DOUBLE, down, 1, height + (ROWS + 1) * COLUMNS, COLUMNS,
               MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void laplacian(const double* height, double* force) {
  for (int r = 0; r < ROWS; ++r) {
    const double* here = height + (r + 1) * COLUMNS;
    double* out = force + r * COLUMNS;
    for (int c = 1; c < COLUMNS - 1; ++c)
      out[c] = here[c - 1] + here[c + 1] + here[c - COLUMNS] + here[c + COLUMNS] - 4 * here[c];
    out[0] = out[COLUMNS - 1] = 0;
  }
}

static void step(double* height, double* speed) {
  double *force = work_array(), *faster = work_array(), *higher = work_array();
  exchange_edges(height);
  laplacian(height, force);
  for (int i = 0; i < ROWS * COLUMNS; ++i) faster[i] = (1 - damping) * speed[i] + dt * force[i];
  for (int i = 0; i < ROWS * COLUMNS; ++i) higher[i] = height[COLUMNS + i] + dt * faster[i];
  memcpy(speed, faster, sizeof(double) * ROWS * COLUMNS);
  memcpy(height + COLUMNS, higher, sizeof(double) * ROWS * COLUMNS);
  free(force);
  free(faster);
  free(higher);
}

static double energy(const double* speed) {
  double own = 0, all = 0;
  for (int i = 0; i < ROWS * COLUMNS; ++i) own += speed[i] * speed[i];
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = argc > 1 ? atoi(argv[1]) : 2000;
  double* height = calloc((ROWS + 2) * COLUMNS, sizeof(double));
  double* speed = calloc(ROWS * COLUMNS, sizeof(double));
  for (int c = COLUMNS / 4; c < COLUMNS / 2; ++c) height[ROWS / 2 * COLUMNS + c] = 1 + rank;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < steps; ++i) step(height, speed);
  const double seconds = MPI_Wtime() - start, end = energy(speed);
  if (rank == 0) printf("loop %.6f\nenergy %.15g\n", seconds, end);
  free(height);
  free(speed);
  MPI_Finalize();
  return 0;
}
