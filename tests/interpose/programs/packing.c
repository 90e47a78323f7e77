// Packs and unpacks derived types in all the ways that a program may, right and wrong, and prints what came of it:
// MPI's codes, positions and bytes. What is printed must be the same with Wherry and without. Checks the bytes of right
// calls by itself too, as the packed data must be those that any MPI_Unpack takes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_classes.h"

enum { memory_bytes = 1 << 16, rounds = 40, most_blocks = 4096 };

static char memory[memory_bytes], copy[memory_bytes], packed[memory_bytes], expected[memory_bytes];

// The type map of one element, in bytes.
struct Map {
  int blocks;
  struct {
    long at, bytes;
  } block[most_blocks];
  long extent;
};

static void add(struct Map* map, long at, long bytes) {
  map->block[map->blocks].at = at;
  map->block[map->blocks++].bytes = bytes;
}

static int gather(const struct Map* map, int count, const char* from, char* to) {
  int size = 0;
  for (int e = 0; e < count; ++e)
    for (int b = 0; b < map->blocks; ++b) {
      memcpy(to + size, from + e * map->extent + map->block[b].at, (size_t)map->block[b].bytes);
      size += (int)map->block[b].bytes;
    }
  return size;
}

static void scatter(const struct Map* map, int count, const char* from, char* to) {
  for (int e = 0; e < count; ++e)
    for (int b = 0; b < map->blocks; ++b) {
      memcpy(to + e * map->extent + map->block[b].at, from, (size_t)map->block[b].bytes);
      from += map->block[b].bytes;
    }
}

static void fail(const char* name, int round, const char* what) {
  printf("%s, round %d: %s\n", name, round, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static unsigned hash_of(const char* bytes, long count) {
  unsigned hash = 2166136261u;
  for (long i = 0; i < count; ++i) hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
  return hash;
}

static void check(const char* name, MPI_Datatype type, const struct Map* map, int count) {
  const int size = gather(map, count, memory, expected);
  int needed = 0;
  MPI_Pack_size(count, type, MPI_COMM_WORLD, &needed);
  if (needed < size) fail(name, 0, "MPI_Pack_size is less than the data");
  for (int round = 0; round < rounds; ++round) {
    int position = 5;
    memset(packed, 0x55, sizeof packed);
    MPI_Pack(memory, count, type, packed, memory_bytes, &position, MPI_COMM_WORLD);
    if (position != 5 + size) fail(name, round, "MPI_Pack left another position");
    if (memcmp(packed + 5, expected, (size_t)size) != 0) fail(name, round, "MPI_Pack packed other bytes");
    if (packed[4] != 0x55 || packed[5 + size] != 0x55) fail(name, round, "MPI_Pack wrote beside them");
    static char wanted[memory_bytes];
    memset(copy, 0x66, sizeof copy);
    memset(wanted, 0x66, sizeof wanted);
    scatter(map, count, expected, wanted);
    position = 5;
    MPI_Unpack(packed, 5 + size, &position, copy, count, type, MPI_COMM_WORLD);
    if (position != 5 + size) fail(name, round, "MPI_Unpack left another position");
    if (memcmp(copy, wanted, sizeof copy) != 0) fail(name, round, "MPI_Unpack wrote something else");
  }
  printf("%s: %d bytes, hash %u\n", name, size, hash_of(expected, size));
}

// What the library's own MPI_Unpack makes of the bytes: a duplicate is new to Wherry at its first call.
static void check_with_the_librarys(const char* name, MPI_Datatype type, const struct Map* map, int count) {
  int position = 0;
  const int size = gather(map, count, memory, expected);
  MPI_Datatype new_type;
  MPI_Pack(memory, count, type, packed, memory_bytes, &position, MPI_COMM_WORLD);
  MPI_Type_dup(type, &new_type);
  memset(copy, 0x66, sizeof copy);
  position = 0;
  MPI_Unpack(packed, size, &position, copy, count, new_type, MPI_COMM_WORLD);
  MPI_Type_free(&new_type);
  static char again[memory_bytes];
  gather(map, count, copy, again);
  if (memcmp(again, expected, (size_t)size) != 0) fail(name, 0, "the library unpacked something else");
}

static void tell(const char* what, int code, int position) {
  printf("%s: %s, position %d, handler called %d times\n", what, class_of(code), position, handled);
  handled = 0;
}

/// Wrong calls with a type that was used often.
static void check_errors(MPI_Datatype type, int size) {
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  int at = 0, code = MPI_Pack(memory, 1, type, packed, size - 1, &at, MPI_COMM_WORLD);
  tell("too little room to pack", code, at);
  at = 1;
  code = MPI_Pack(memory, 1, type, packed, size, &at, MPI_COMM_WORLD);
  tell("too little room behind the position", code, at);
  at = 0, code = MPI_Unpack(packed, size - 1, &at, copy, 1, type, MPI_COMM_WORLD);
  tell("too little to unpack", code, at);
  at = 0, code = MPI_Pack(memory, -1, type, packed, memory_bytes, &at, MPI_COMM_WORLD);
  tell("a negative count", code, at);
  at = 0, code = MPI_Pack(memory, 1, MPI_DATATYPE_NULL, packed, memory_bytes, &at, MPI_COMM_WORLD);
  tell("no type", code, at);
  MPI_Datatype uncommitted;
  MPI_Type_vector(30, 1, 2, MPI_DOUBLE, &uncommitted);
  for (int i = 0; i < 5; ++i) {
    at = 0, code = MPI_Pack(memory, 1, uncommitted, packed, memory_bytes, &at, MPI_COMM_WORLD);
    tell("a type that is not committed", code, at);
  }
  MPI_Type_free(&uncommitted);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&own);
}

/// A handle that is freed and comes again as another type.
static void check_reuse(void) {
  for (int i = 0; i < 600; ++i) {
    const int stride = 2 + i % 5, count = 10 + i % 7;
    struct Map map = {0};
    for (int b = 0; b < count; ++b) add(&map, b * stride * 8L, 8);
    MPI_Datatype type;
    MPI_Type_vector(count, 1, stride, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int call = 0; call < 1 + i % 4; ++call) {
      int position = 0;
      MPI_Pack(memory, 1, type, packed, memory_bytes, &position, MPI_COMM_WORLD);
      gather(&map, 1, memory, expected);
      if (position != count * 8 || memcmp(packed, expected, (size_t)position) != 0)
        fail("types that are freed", i, "MPI_Pack packed other bytes");
    }
    MPI_Type_free(&type);
  }
}

static MPI_Datatype commit(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < memory_bytes; ++i) memory[i] = (char)(i * 131 + i / 251);
  MPI_Datatype type, inner;

  static struct Map strided;
  for (int b = 0; b < 100; ++b) add(&strided, b * 24L, 8);
  strided.extent = 99 * 24 + 8;
  MPI_Type_vector(100, 1, 3, MPI_DOUBLE, &type);
  type = commit(type);
  check("vector", type, &strided, 1);
  check("vectors", type, &strided, 7);
  check_with_the_librarys("vector", type, &strided, 7);
  check_errors(type, 800);
  MPI_Type_free(&type);

  static struct Map record;
  add(&record, 0, 4), add(&record, 8, 8), add(&record, 16, 1);
  record.extent = 24;
  const int lengths[] = {1, 1, 1};
  const MPI_Aint at[] = {0, 8, 16};
  const MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, at, members, &inner);
  MPI_Type_create_resized(inner, 0, 24, &type);
  MPI_Type_free(&inner);
  type = commit(type);
  check("structs", type, &record, 500);
  check("a struct", type, &record, 1);
  check_with_the_librarys("structs", type, &record, 500);
  MPI_Type_free(&type);

  static struct Map face;
  const int sizes[] = {8, 9, 10}, subsizes[] = {5, 4, 3}, starts[] = {1, 2, 3};
  for (int x = 0; x < 5; ++x)
    for (int y = 0; y < 4; ++y) add(&face, ((x + 1) * 90 + (y + 2) * 10 + 3) * 8L, 24);
  face.extent = 720 * 8;
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  type = commit(type);
  check("subarray", type, &face, 2);
  check_with_the_librarys("subarray", type, &face, 2);
  MPI_Type_free(&type);

  static struct Map listed;
  static int ids[1000];
  unsigned random = 12345;
  for (int b = 0; b < 1000; ++b) {
    random = random * 1664525u + 1013904223u;
    ids[b] = b * 4 + (int)(random >> 24) % 4;
    add(&listed, ids[b] * 4L, 4);
  }
  listed.extent = memory_bytes;
  MPI_Type_create_indexed_block(1000, 1, ids, MPI_INT, &type);
  type = commit(type);
  check("indexed", type, &listed, 1);
  check_with_the_librarys("indexed", type, &listed, 1);
  MPI_Type_free(&type);

  static struct Map whole;
  add(&whole, 0, 400);
  whole.extent = 400;
  MPI_Type_contiguous(50, MPI_DOUBLE, &type);
  type = commit(type);
  check("contiguous", type, &whole, 3);
  check("doubles", MPI_DOUBLE, &(struct Map){1, {{0, 8}}, 8}, 64);
  MPI_Type_free(&type);

  check_reuse();
  MPI_Finalize();
  return 0;
}
