/* Types that are created, used a few times and freed, one after the other, between two ranks: what that does to
 * memory. Prints how much more the process holds after all of them than after the first tenth, and what a type took
 * in the first tenth and in the last. Argument: types. Checks what arrives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_blocks = 300, most_stride = 6, uses = 4 };

static double sent[most_blocks * most_stride], received[most_blocks * most_stride], packed[most_blocks];
static int rank, peer;

static long resident_bytes(void) {
  long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2) MPI_Abort(MPI_COMM_WORLD, 3);
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

static void check(const double* data, int blocks, int stride, int number) {
  for (int i = 0; i < blocks; ++i)
    if (data[i * stride] != i + number) MPI_Abort(MPI_COMM_WORLD, 4);
}

static void exchange_at_once(MPI_Datatype type) {
  MPI_Sendrecv(sent, 1, type, peer, 1, received, 1, type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange_later(MPI_Datatype type) {
  MPI_Request requests[2];
  MPI_Irecv(received, 1, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent, 1, type, peer, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void exchange_by_persistent(MPI_Datatype type) {
  MPI_Request requests[2];
  MPI_Recv_init(received, 1, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(sent, 1, type, peer, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void pack_and_unpack(MPI_Datatype type) {
  int at = 0;
  MPI_Pack(sent, 1, type, packed, sizeof packed, &at, MPI_COMM_WORLD);
  const int bytes = at;
  at = 0;
  MPI_Unpack(packed, bytes, &at, received, 1, type, MPI_COMM_WORLD);
}

/* The same for both ranks: how long a type is used, and for what, follows its number. */
static void one_type(int number) {
  static void (*const ways[])(MPI_Datatype) = {exchange_at_once, exchange_later, exchange_by_persistent,
                                               pack_and_unpack};
  const int stride = 2 + number % (most_stride - 1), blocks = 100 + number / 5 % 40 * 5;
  MPI_Datatype type;
  MPI_Type_vector(blocks, 1, stride, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < blocks; ++i) sent[i * stride] = i + number;
  for (int use = 0; use < 1 + number / 3 % uses; ++use) {
    memset(received, 0, sizeof received);
    ways[number % 4](type);
    check(received, blocks, stride, number);
  }
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  const int types = atoi(argv[1]), tenth = types / 10;
  long held = 0;
  double first_s = 0, begun = MPI_Wtime();
  for (int number = 0; number < types; ++number) {
    if (number == tenth) held = resident_bytes(), first_s = MPI_Wtime() - begun;
    if (number == types - tenth) begun = MPI_Wtime();
    one_type(number);
  }
  const double last_s = MPI_Wtime() - begun;
  printf("rank %d: %ld KiB more, %.2f us at first, %.2f us at last\n", rank, (resident_bytes() - held) / 1024,
         first_s / tenth * 1e6, last_s / tenth * 1e6);
  MPI_Finalize();
  return 0;
}
