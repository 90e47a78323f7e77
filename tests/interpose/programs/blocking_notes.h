/* What a thread of a rank notes of its calls, a line a case. */
#ifndef BLOCKING_NOTES_H
#define BLOCKING_NOTES_H

#include <mpi.h>
#include <stdio.h>

static int rank, size;
/* The neighbors in a ring of all ranks. */
static inline int right(void) { return (rank + 1) % size; }
static inline int left(void) { return (rank + size - 1) % size; }
static _Thread_local FILE* out;
static _Thread_local int handled;
static _Thread_local MPI_Comm comm; /* its handler counts */

static void count_errors(MPI_Comm* c, int* code, ...) {
  (void)c, (void)code;
  ++handled;
}

/* What a call returned, and how often the error handler was called for it. */
static void note(const char* name, int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  fprintf(out, "%s: class %d, handled %d\n", name, class, handled);
  handled = 0;
}

static void note_status(MPI_Status* s) {
  int count = -7, cancelled = -7;
  MPI_Test_cancelled(s, &cancelled);
  if (!cancelled) MPI_Get_count(s, MPI_INT, &count);
  if (cancelled) fprintf(out, "  cancelled\n");
  else fprintf(out, "  from %d, tag %d, %d ints\n", s->MPI_SOURCE, s->MPI_TAG, count);
}

static void note_ints(const int* values, int n) {
  for (int i = 0; i < n; ++i) fprintf(out, " %d", values[i]);
  fprintf(out, "\n");
}

#endif
