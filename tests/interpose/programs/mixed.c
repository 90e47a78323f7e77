/* Collectives whose ranks describe one signature by different types and counts, again and again, so that candidates
 * are tried and one is kept, and with ranks that come at different times. All against what this program computes by
 * itself. Prints per rank "N checks, M failures". Arguments: rounds; the forms, of the letters b, n and p. */
#include <unistd.h>

#include "collective_calls.h"

enum { COUNTS = 3 };
static const int counts[COUNTS] = {1, 10, 1500};

/* Up to 0.3 ms, on each rank another. */
static void delay(void) {
  static unsigned state = 0;
  if (state == 0) state = 20261126u + 977u * (unsigned)rank;
  state = state * 1664525u + 1013904223u;
  if (state >> 30 == 0) usleep(state >> 8 & 255);
}

static void check(Kind kind, Form form, int count, int round, int in_place, MPI_Comm comm) {
  /* What is reduced must be of one type everywhere (MPI 4.1, 6.9). */
  const int variant = rules[kind].reduces ? round % variants(kind) : round + rank;
  Call c = make(kind, form, count, round, variant, in_place);
  delay();
  int right = issue(&c, comm) == MPI_SUCCESS;
  delay();
  if (form == PERSISTENT) MPI_Start(&c.request);
  if (form != BLOCKING) MPI_Wait(&c.request, MPI_STATUS_IGNORE);
  validate(right && is_right(&c), &c, "wrong");
  if (form == PERSISTENT) MPI_Request_free(&c.request);
  drop(&c);
}

static void check_form(Form form, int round, MPI_Comm comm, MPI_Comm graph) {
  for (int kind = 0; kind < KINDS; ++kind)
    for (int n = 0; n < COUNTS && kind != BARRIER; ++n) {
      const int in_place = round % 3 == 2 && where_in_place((Kind)kind, form) != NOWHERE;
      check((Kind)kind, form, counts[n], round, in_place, kind < ON_ANY ? comm : graph);
    }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Communicators on = begin_checks();
  for (int round = 0; round < atoi(argv[1]); ++round)
    for (int form = 0; form < FORMS; ++form)
      if (strchr(argv[2], "bnp"[form]) != NULL) check_form((Form)form, round, on.all, on.graph);
  return end_checks(&on);
}
