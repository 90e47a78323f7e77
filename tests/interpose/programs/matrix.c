/* Every collective in every form, on every type, of no data, little and much, in place and not: all against what this
 * program computes by itself. Prints per rank "N checks, M failures". Arguments: the forms, of the letters b, n and p;
 * and k, for every k-th type of each collective, form and size, which are others for the next. */
#include <math.h>

#include "collective_calls.h"

enum { COUNTS = 3, ROUNDS = 2 };
static const int counts[COUNTS] = {0, 1, 1500};
static int stride = 1;

static void once(Call* c) {
  if (c->form == PERSISTENT) MPI_Start(&c->request);
  if (c->form != BLOCKING) MPI_Wait(&c->request, MPI_STATUS_IGNORE);
}

static void check(Kind kind, Form form, int count, int variant, int in_place, MPI_Comm comm) {
  Call c = make(kind, form, count, 10 * variant + count % 7 + kind, variant, in_place);
  int right = issue(&c, comm) == MPI_SUCCESS;
  once(&c);
  validate(right && is_right(&c), &c, "wrong");
  for (int round = 1; form == PERSISTENT && round < ROUNDS; ++round) {
    renew(&c);
    once(&c);
    validate(is_right(&c), &c, "wrong when started again");
  }
  if (form == PERSISTENT) MPI_Request_free(&c.request);
  drop(&c);
}

static void check_kind(Kind kind, Form form, MPI_Comm comm) {
  const int ways = where_in_place(kind, form) == NOWHERE ? 1 : 2;
  for (int n = 0; n < (kind == BARRIER ? 1 : COUNTS); ++n)
    for (int variant = ((int)kind + (int)form + n) % stride % variants(kind); variant < variants(kind);
         variant += stride)
      for (int in_place = 0; in_place < ways; ++in_place) check(kind, form, counts[n], variant, in_place, comm);
}

/* Sums that depend on their order in the last bits. */
static double part(int from, int k) { return 1.0 / (1 + from + 7.0 * k); }

static int is_near_sum(const double* sums, int count) {
  for (int k = 0; k < count; ++k) {
    double expected = 0;
    for (int from = 0; from < size; ++from) expected += part(from, k);
    if (fabs(sums[k] - expected) > 1e-14 * size * expected) return 0;
  }
  return 1;
}

/* Compared by messages: rank 0 tells all others what it got. */
static int is_as_on_rank_0(const double* mine, int count, MPI_Comm comm) {
  const size_t bytes = sizeof *mine * (size_t)count;
  if (rank == 0)
    for (int to = 1; to < size; ++to) MPI_Send(mine, count, MPI_DOUBLE, to, 1, comm);
  if (rank == 0) return 1;
  double* first = malloc(bytes + 1);
  MPI_Recv(first, count, MPI_DOUBLE, 0, 1, comm, MPI_STATUS_IGNORE);
  const int same = memcmp(first, mine, bytes) == 0;
  free(first);
  return same;
}

/* MPI 4.1, 6.9.1, advises that all ranks get the same result; programs rely on it. */
static void check_bits(Form form, int count, MPI_Comm comm) {
  Call named = {.kind = ALLREDUCE, .form = form, .count = count}, *c = &named;
  double *parts = malloc(sizeof *parts * (size_t)count), *sums = malloc(sizeof *sums * (size_t)count);
  for (int k = 0; k < count; ++k) parts[k] = part(rank, k);
  CALL(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, parts, sums, count, MPI_DOUBLE, MPI_SUM, comm);
  once(c);
  if (form == PERSISTENT) MPI_Request_free(&c->request);
  validate(is_near_sum(sums, count), c, "a sum of numbers");
  validate(is_as_on_rank_0(sums, count, comm), c, "not the same bits on all ranks");
  free(parts);
  free(sums);
}

static void check_form(Form form, MPI_Comm comm, MPI_Comm graph) {
  for (int kind = 0; kind < KINDS; ++kind) check_kind((Kind)kind, form, kind < ON_ANY ? comm : graph);
  for (int n = 1; n < COUNTS; ++n) check_bits(form, counts[n], comm);
}

int main(int argc, char** argv) {
  const char* forms = argc > 1 ? argv[1] : "bnp";
  if (argc > 2) stride = atoi(argv[2]);
  Communicators on = begin_checks();
  for (int form = 0; form < FORMS; ++form)
    if (strchr(forms, "bnp"[form]) != NULL) check_form((Form)form, on.all, on.graph);
  return end_checks(&on);
}
