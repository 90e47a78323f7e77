/* drift BYTES BEFORE AFTER FOLDER: all-to-alls with blocks of so many bytes. After the first BEFORE calls it makes
 * FOLDER/half and waits for FOLDER/go, which is when the network changes; then come AFTER calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char* in_folder(const char* folder, const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void exchange(int calls, int bytes, int size) {
  char* out = calloc((size_t)size, (size_t)bytes);
  char* in = calloc((size_t)size, (size_t)bytes);
  for (int i = 0; i < calls; ++i) MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange(atoi(argv[2]), atoi(argv[1]), size);
  if (rank == 0) fclose(fopen(in_folder(argv[4], "half"), "w"));
  while (access(in_folder(argv[4], "go"), F_OK) != 0) usleep(1000);
  exchange(atoi(argv[3]), atoi(argv[1]), size);
  MPI_Finalize();
  return 0;
}
