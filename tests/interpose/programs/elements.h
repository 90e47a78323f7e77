/* Elements of four ints in datatypes of all kinds, and operations on them whose results a serial program knows. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include <mpi.h>
#include <stddef.h>

enum { INTS = 4 };
typedef enum { PLAIN, PAIRS, CONTIGUOUS, VECTOR, RESIZED, STRUCT, SHAPES } Placement;

/* Where an element has its ints: the type map, written by hand. */
typedef struct {
  int units; /* of the datatype in an element */
  int at[INTS], extent;
} Map;

static const Map maps[SHAPES] = {
    [PLAIN] = {4, {0, 1, 2, 3}, 4},      /* MPI_INT */
    [PAIRS] = {2, {0, 1, 2, 3}, 4},      /* MPI_2INT */
    [CONTIGUOUS] = {1, {0, 1, 2, 3}, 4}, /* four ints */
    [VECTOR] = {1, {0, 1, 3, 4}, 5},     /* two and two, with one between that is not theirs */
    [RESIZED] = {1, {0, 1, 2, 3}, 7},    /* four, with three behind them that are not theirs */
    [STRUCT] = {1, {5, 0, 1, 3}, 6},     /* not in the order of memory */
};

static int is_derived(Placement placement) { return placement >= CONTIGUOUS; }

static MPI_Datatype made_struct(void) {
  const int lengths[] = {1, 2, 1};
  const MPI_Aint places[] = {5 * sizeof(int), 0, 3 * sizeof(int)};
  const MPI_Datatype parts[] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Datatype type;
  MPI_Type_create_struct(3, lengths, places, parts, &type);
  return type;
}

static MPI_Datatype made_resized(void) {
  MPI_Datatype four, type;
  MPI_Type_contiguous(INTS, MPI_INT, &four);
  MPI_Type_create_resized(four, 0, (MPI_Aint)(maps[RESIZED].extent * sizeof(int)), &type);
  MPI_Type_free(&four);
  return type;
}

/* A new one each time, if it is derived. */
static MPI_Datatype type_of(Placement placement) {
  MPI_Datatype type = placement == PAIRS ? MPI_2INT : MPI_INT;
  if (placement == CONTIGUOUS) MPI_Type_contiguous(INTS, MPI_INT, &type);
  if (placement == VECTOR) MPI_Type_vector(2, 2, 3, MPI_INT, &type);
  if (placement == RESIZED) type = made_resized();
  if (placement == STRUCT) type = made_struct();
  if (is_derived(placement)) MPI_Type_commit(&type);
  return type;
}

static void take(Placement placement, const int* from, long index, int element[INTS]) {
  for (int i = 0; i < INTS; ++i) element[i] = from[index * maps[placement].extent + maps[placement].at[i]];
}

static void put(Placement placement, int* to, long index, const int element[INTS]) {
  for (int i = 0; i < INTS; ++i) to[index * maps[placement].extent + maps[placement].at[i]] = element[i];
}

/* ---- What becomes of an element when that of the next rank is combined with it ---- */

typedef void Fold(int sum[INTS], const int next[INTS]);

static void add(int sum[INTS], const int next[INTS]) {
  for (int i = 0; i < INTS; ++i) sum[i] += next[i];
}

static void keep_larger(int sum[INTS], const int next[INTS]) {
  for (int i = 0; i < INTS; ++i) sum[i] = sum[i] < next[i] ? next[i] : sum[i];
}

static void toggle(int sum[INTS], const int next[INTS]) {
  for (int i = 0; i < INTS; ++i) sum[i] ^= next[i];
}

/* Pairs of a number and its place. */
static void keep_smaller_pair(int sum[INTS], const int next[INTS]) {
  for (int i = 0; i < INTS; i += 2)
    if (next[i] < sum[i] || (next[i] == sum[i] && next[i + 1] < sum[i + 1])) {
      sum[i] = next[i];
      sum[i + 1] = next[i + 1];
    }
}

/* x -> a x + b, one after the other: associative, and does not commute. */
static void compose(int sum[INTS], const int next[INTS]) {
  for (int i = 0; i < INTS; i += 2) {
    const unsigned a = (unsigned)next[i], b = (unsigned)next[i + 1];
    sum[i + 1] = (int)((unsigned)sum[i + 1] * a + b);
    sum[i] = (int)((unsigned)sum[i] * a);
  }
}

/* What MPI asks of a program's own operation: the earlier rank's elements with the later one's, in their place. */
static void fold_all(Placement placement, Fold* fold, const int* earlier, int* later, int count) {
  int sum[INTS], next[INTS];
  for (int k = 0; k < count; ++k) {
    take(placement, earlier, k, sum);
    take(placement, later, k, next);
    fold(sum, next);
    put(placement, later, k, sum);
  }
}

static void add_contiguous(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type, fold_all(CONTIGUOUS, add, in, inout, *count);
}
static void compose_contiguous(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type, fold_all(CONTIGUOUS, compose, in, inout, *count);
}
static void compose_vector(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type, fold_all(VECTOR, compose, in, inout, *count);
}
static void compose_resized(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type, fold_all(RESIZED, compose, in, inout, *count);
}
static void compose_struct(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type, fold_all(STRUCT, compose, in, inout, *count);
}

typedef struct {
  Placement placement;
  Fold* fold;
  MPI_User_function* own; /* of the program; NULL: the operation is MPI's */
  int commutes;
  MPI_Op op;
} Folding;

enum { FOLDINGS = 9, FOLDINGS_WITHOUT_GAPS = 6 };
static Folding foldings[FOLDINGS] = {
    {PLAIN, add, NULL, 1, MPI_OP_NULL},
    {PLAIN, keep_larger, NULL, 1, MPI_OP_NULL},
    {PLAIN, toggle, NULL, 1, MPI_OP_NULL},
    {PAIRS, keep_smaller_pair, NULL, 1, MPI_OP_NULL},
    {CONTIGUOUS, add, add_contiguous, 1, MPI_OP_NULL},
    {CONTIGUOUS, compose, compose_contiguous, 0, MPI_OP_NULL},
    {VECTOR, compose, compose_vector, 0, MPI_OP_NULL},
    {RESIZED, compose, compose_resized, 0, MPI_OP_NULL},
    {STRUCT, compose, compose_struct, 0, MPI_OP_NULL},
};

static void make_operations(void) {
  const MPI_Op predefined[] = {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_MINLOC};
  for (int i = 0; i < FOLDINGS; ++i)
    if (foldings[i].own == NULL) foldings[i].op = predefined[i];
    else MPI_Op_create(foldings[i].own, foldings[i].commutes, &foldings[i].op);
}

static void free_operations(void) {
  for (int i = 0; i < FOLDINGS; ++i)
    if (foldings[i].own != NULL) MPI_Op_free(&foldings[i].op);
}

#endif
