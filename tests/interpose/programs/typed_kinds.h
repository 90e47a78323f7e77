// Types of several kinds and what they mean by plain loops, memory to send from and to receive in, and what MPI said of
// each message, for programs of two ranks. What a rank tells goes to a file of its own, and must be the same with
// Wherry and without. Arguments of such a program: folder; rounds of each; the ranks that Wherry may send and receive
// for ("01", "0" or "1").
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_blocks = 64, memory_bytes = 12 << 20, bytes_before = 1 << 10, bytes_behind = 1 << 10 };

static FILE* told;
static int rank, peer, rounds;
enum { rounds_of_few = 3 };  // where a type is known already, or needs not be

static void tell(const char* format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(told, format, values);
  va_end(values);
}

static void fail(const char* format, ...) {
  va_list values;
  va_start(values, format);
  fprintf(stderr, "rank %d: ", rank);
  vfprintf(stderr, format, values);
  fprintf(stderr, "\n");
  va_end(values);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

// --- types, and what they mean

struct Kind {
  const char* name;
  MPI_Datatype type;
  int blocks;
  struct {
    long at, bytes;
  } block[most_blocks];
  long extent, size;
  int basic;  // elements of predefined types
};

static void add(struct Kind* kind, long at, long bytes) {
  kind->block[kind->blocks].at = at;
  kind->block[kind->blocks++].bytes = bytes;
  kind->size += bytes;
}

/// A call of memcpy for a few bytes each takes twice as long.
static inline void copy(char* to, const char* from, long bytes) {
  for (; bytes >= 8; to += 8, from += 8, bytes -= 8) memcpy(to, from, 8);
  for (; bytes > 0; --bytes) *to++ = *from++;
}

static void gather(const struct Kind* kind, long size, const char* from, char* to) {
  for (long e = 0, done = 0; done < size; ++e)
    for (int b = 0; b < kind->blocks && done < size; ++b) {
      const long whole = kind->block[b].bytes, bytes = size - done < whole ? size - done : whole;
      copy(to + done, from + e * kind->extent + kind->block[b].at, bytes);
      done += bytes;
    }
}

static void scatter(const struct Kind* kind, long size, const char* from, char* to) {
  for (long e = 0, done = 0; done < size; ++e)
    for (int b = 0; b < kind->blocks && done < size; ++b) {
      const long whole = kind->block[b].bytes, bytes = size - done < whole ? size - done : whole;
      copy(to + e * kind->extent + kind->block[b].at, from + done, bytes);
      done += bytes;
    }
}

static struct Kind kinds[4], five, three;

static void make_struct(struct Kind* kind, const char* name, int members) {
  const int lengths[] = {1, 1, 1, 2, 3}, bytes[] = {4, 8, 2, 8, 12};
  const MPI_Aint at[] = {0, 8, 16, 24, 40};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_FLOAT, MPI_INT};
  MPI_Datatype plain;
  kind->name = name;
  for (int m = 0; m < members; ++m) add(kind, at[m], bytes[m]), kind->basic += lengths[m];
  MPI_Type_create_struct(members, lengths, at, types, &plain);
  kind->extent = 56;
  MPI_Type_create_resized(plain, 0, kind->extent, &kind->type);
  MPI_Type_free(&plain);
  MPI_Type_commit(&kind->type);
}

static void make_kinds(void) {
  MPI_Datatype plain;
  struct Kind* kind = &kinds[0];
  kind->name = "every other double";
  for (int b = 0; b < 16; ++b) add(kind, b * 16L, 8);
  kind->extent = 256, kind->basic = 16;
  MPI_Type_vector(16, 1, 2, MPI_DOUBLE, &plain);
  MPI_Type_create_resized(plain, 0, 256, &kind->type);
  MPI_Type_free(&plain);

  kind = &kinds[1];
  kind->name = "backwards";
  for (int b = 0; b < 10; ++b) add(kind, b * -24L, 12);
  kind->extent = 228, kind->basic = 30;
  MPI_Type_create_hvector(10, 3, -24, MPI_INT, &kind->type);

  kind = &kinds[2];
  kind->name = "subarray";
  const int sizes[] = {4, 5, 6}, subsizes[] = {2, 3, 4}, starts[] = {1, 1, 1};
  for (int x = 1; x < 3; ++x)
    for (int y = 1; y < 4; ++y) add(kind, (x * 30 + y * 6 + 1) * 4L, 16);
  kind->extent = 480, kind->basic = 24;
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_FLOAT, &kind->type);

  for (int k = 0; k < 3; ++k) MPI_Type_commit(&kinds[k].type);
  make_struct(&kinds[3], "structs", 5);
  make_struct(&five, "five members", 5);
  make_struct(&three, "three members", 3);
}

// --- memory

static char *sent_memory, *received_memory, *wanted_memory, *packed, *dense;

/// Bytes of memory that a message may be in, those before and behind it included: so many are filled and compared.
static long in_use = 1 << 20;

static void use(const struct Kind* kind, long count) {
  in_use = bytes_before + count * kind->extent + bytes_behind;
  if (in_use > memory_bytes) in_use = memory_bytes;
}

static void* allocate(long bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, (size_t)bytes) != 0) fail("no memory");
  return memory;
}

/// What a rank sends in a round; its peer knows it.
static void fill(int sender, int round) {
  const unsigned long own = (12345u + 977u * (unsigned)round + 31u * (unsigned)sender) * 0xc2b2ae3d27d4eb4fu;
  for (long i = 0; i + 8 <= in_use; i += 8) {
    unsigned long word = (unsigned long)i * 0x9e3779b97f4a7c15u ^ own;
    word ^= word >> 29;
    memcpy(sent_memory + i, &word, 8);
  }
}

static char* origin(char* memory) { return memory + bytes_before; }

// --- the two sides of a message

struct Side {
  const struct Kind* kind;
  int derived, count;
  long bytes;
};

static int count_of(const struct Side* s) { return s->derived ? s->count : (int)s->bytes; }
static MPI_Datatype type_of(const struct Side* s) { return s->derived ? s->kind->type : MPI_BYTE; }
static void* sent_of(const struct Side* s) { return s->derived ? origin(sent_memory) : dense; }
static void* received_of(const struct Side* s) { return s->derived ? origin(received_memory) : packed; }

/// The receiver's memory must have what was sent where the type says, and be as it was elsewhere.
static void compare(const struct Side* s, long arrived, const char* sent, const char* what) {
  memset(wanted_memory, 0x66, (size_t)in_use);
  if (!s->derived) {
    if (memcmp(packed, sent, (size_t)arrived) != 0) fail("%s: other bytes arrived", what);
    return;
  }
  scatter(s->kind, arrived, sent, origin(wanted_memory));
  if (memcmp(received_memory, wanted_memory, (size_t)in_use) == 0) return;
  for (long i = 0; i < in_use; ++i)
    if (received_memory[i] != wanted_memory[i])
      fail("%s: byte %ld is %d, not %d", what, i - bytes_before, received_memory[i], wanted_memory[i]);
}

static void compare_status(const struct Side* s, const MPI_Status* status, int from, const char* what) {
  int count = -7, elements = -7, bytes = -7, cancelled = -7;
  MPI_Count many = -7;
  MPI_Get_count(status, type_of(s), &count);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  MPI_Get_elements(status, type_of(s), &elements);
  MPI_Get_elements_x(status, type_of(s), &many);
  MPI_Test_cancelled(status, &cancelled);
  const int basic = s->derived ? s->kind->basic * s->count : (int)s->bytes;
  if (count != count_of(s) || bytes != s->bytes || elements != basic || many != basic || cancelled != 0 ||
      status->MPI_SOURCE != from || status->MPI_TAG != 7)
    fail("%s: count %d, bytes %d, elements %d, cancelled %d, source %d, tag %d", what, count, bytes, elements,
         cancelled, status->MPI_SOURCE, status->MPI_TAG);
}

static void tell_status(const char* what, const MPI_Status* status) {
  int count = 0, elements = 0, bytes = 0;
  MPI_Count many = 0;
  MPI_Get_count(status, five.type, &count);
  MPI_Get_elements(status, five.type, &elements);
  MPI_Get_elements_x(status, five.type, &many);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  tell("%s: count %d, elements %d and %d, bytes %d, source %d, tag %d\n", what,
       count == MPI_UNDEFINED ? -1 : count, elements, (int)many, bytes, status->MPI_SOURCE, status->MPI_TAG);
}

// --- several threads, each of which gets its number

static void run_threads(void* (*thread_main)(void*)) {
  pthread_t thread[4];
  int number[4];
  for (int t = 0; t < 4; ++t) number[t] = t, pthread_create(&thread[t], NULL, thread_main, &number[t]);
  for (int t = 0; t < 4; ++t) pthread_join(thread[t], NULL);
}

// --- begin and end

static int rank_of_launcher(void) {
  const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (int i = 0; i < 3; ++i)
    if (getenv(names[i]) != NULL) return atoi(getenv(names[i]));
  return -1;
}

/// Returns the level of thread support.
static int begin(int* argc, char*** argv) {
  const char own[] = {(char)('0' + rank_of_launcher()), 0};
  rounds = atoi((*argv)[2]);
  if (strstr((*argv)[3], own) == NULL) setenv("WHERRY_LAYOUT", "native", 1);
  int level = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", (*argv)[1], rank);
  told = fopen(path, "w");
  sent_memory = allocate(memory_bytes), received_memory = allocate(memory_bytes);
  wanted_memory = allocate(memory_bytes), packed = allocate(memory_bytes), dense = allocate(memory_bytes);
  make_kinds();
  return level;
}

static int end(void) {
  for (int k = 0; k < 4; ++k) MPI_Type_free(&kinds[k].type);
  MPI_Type_free(&five.type);
  MPI_Type_free(&three.type);
  fclose(told);
  MPI_Finalize();
  return 0;
}
