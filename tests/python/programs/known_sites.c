// Call sites with known names: two in functions that a stripped program has no names of, one in a function that it
// exports. MPI_Finalize takes half a second, which is not the program's run time.
#include <mpi.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

static KEEP int meet(void) { return MPI_Barrier(MPI_COMM_WORLD) + 1; }  // no tail call

static KEEP double hidden_sum(double x) {
  double sum;
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

KEEP void exported_bcast(double* x) {
  MPI_Bcast(x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  *x += 1;
}

static int slow_end(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)value, (void)state;
  usleep(500000);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, slow_end, &key, 0);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
  double x = 1;
  for (int i = 0; i < 20; i++) {
    x += meet();
    x = hidden_sum(x) / 2;
    exported_bcast(&x);
  }
  MPI_Finalize();
  return 0;
}
