/* What a program did, for whoever counts its calls: a function, its calls and its bytes; "to", a rank, what went there
 * and its bytes; "derived", the calls with derived types and their bytes; "hvector", those of them of such types. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { most_functions = 32, most_ranks = 64 };

static long done[most_functions], moved[most_functions], to[most_ranks], bytes_to[most_ranks];
static long derived_calls, derived_bytes, hvector_calls, hvector_bytes;
static uint64_t state;

static int random_below(int n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)n);
}

static void note(int function, long bytes) {
  ++done[function];
  moved[function] += bytes;
}

/* A call with a derived type. */
static void note_derived(long bytes) {
  ++derived_calls;
  derived_bytes += bytes;
}

/* One of them whose type was made by MPI_Type_create_hvector. */
static void note_hvector(long bytes) {
  ++hvector_calls;
  hvector_bytes += bytes;
  note_derived(bytes);
}

static void note_sent(int rank, long bytes) {
  ++to[rank];
  bytes_to[rank] += bytes;
}

static void tell(const char* folder, int rank, int size, int functions, const char* const names[]) {
  char path[4096];
  snprintf(path, sizeof path, "%s/expected-%d", folder, rank);
  FILE* const file = fopen(path, "w");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < functions; ++i) fprintf(file, "%s %ld %ld\n", names[i], done[i], moved[i]);
  for (int i = 0; i < size; ++i) fprintf(file, "to-%d %ld %ld\n", i, to[i], bytes_to[i]);
  fprintf(file, "derived %ld %ld\n", derived_calls, derived_bytes);
  fprintf(file, "hvector %ld %ld\n", hvector_calls, hvector_bytes);
  fclose(file);
}
