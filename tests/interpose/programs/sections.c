/* Several collectives at once on sections of the ranks, disjoint and overlapping, which every rank starts and completes
 * in an order of its own, with messages to anybody in between. Prints what was wrong. Argument: the seed. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_sections = 8, per_section = 3, rounds = 25, most_ranks = 16, most_count = 600, notes = 3 };

/* The same sequence for the same seed, on every rank. */
static uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int below(uint64_t* state, int bound) { return (int)(next_random(state) % (uint64_t)bound); }

static void shuffle(uint64_t* state, int* items, int count) {
  for (int i = count - 1; i > 0; --i) {
    const int j = below(state, i + 1), kept = items[i];
    items[i] = items[j];
    items[j] = kept;
  }
}

typedef struct {
  int id;
  MPI_Comm comm;
  int rank, size;
} Section;

typedef enum { alltoall, allgather, allreduce } Kind;

/* One collective under way. */
typedef struct {
  Kind kind;
  int id, count;
  const Section* section;
  int *send, *receive;
  MPI_Request request;
} Call;

static int value(const Call* c, int from, int to, int k) { return (c->id * 31 + from) * 37 + to * 5 + k % 4; }

static void prepare(Call* c) {
  const int blocks = c->section->size;
  c->send = malloc(sizeof(int) * (size_t)(blocks * c->count));
  c->receive = malloc(sizeof(int) * (size_t)(blocks * c->count));
  for (int b = 0; b < blocks; ++b)
    for (int k = 0; k < c->count; ++k) {
      c->send[b * c->count + k] = value(c, c->section->rank, c->kind == alltoall ? b : 0, k);
      c->receive[b * c->count + k] = -1;
    }
}

static void start(Call* c) {
  const MPI_Comm comm = c->section->comm;
  if (c->kind == alltoall)
    MPI_Ialltoall(c->send, c->count, MPI_INT, c->receive, c->count, MPI_INT, comm, &c->request);
  else if (c->kind == allgather)
    MPI_Iallgather(c->send, c->count, MPI_INT, c->receive, c->count, MPI_INT, comm, &c->request);
  else
    MPI_Iallreduce(c->send, c->receive, c->count, MPI_INT, MPI_SUM, comm, &c->request);
}

/* The blocking forms, in whose order all ranks agree. */
static void perform(Call* c) {
  const MPI_Comm comm = c->section->comm;
  if (c->kind == alltoall)
    MPI_Alltoall(c->send, c->count, MPI_INT, c->receive, c->count, MPI_INT, comm);
  else if (c->kind == allgather)
    MPI_Allgather(c->send, c->count, MPI_INT, c->receive, c->count, MPI_INT, comm);
  else
    MPI_Allreduce(c->send, c->receive, c->count, MPI_INT, MPI_SUM, comm);
}

static int is_right(const Call* c) {
  for (int b = 0; b < (c->kind == allreduce ? 1 : c->section->size); ++b)
    for (int k = 0; k < c->count; ++k) {
      int expected = 0;
      if (c->kind == allreduce)
        for (int from = 0; from < c->section->size; ++from) expected += value(c, from, 0, k);
      else
        expected = value(c, b, c->kind == alltoall ? c->section->rank : 0, k);
      if (c->receive[b * c->count + k] != expected) return 0;
    }
  return 1;
}

static void finish(Call* c, int* wrong) {
  *wrong += !is_right(c);
  free(c->send);
  free(c->receive);
}

/* A row and a column of a grid, all ranks, all in reverse, and random sections of which each rank is in some. */
static int make_sections(Section* sections, uint64_t* shared, int rank, int size) {
  const int width = size > 3 ? 3 : size;
  const int colours[4] = {rank / width, rank % width, 0, 0};
  int count = 0;
  for (int id = 0; id < most_sections; ++id) {
    const uint64_t members = next_random(shared);
    const int in = id >= 4 && ((members >> rank) & 1) == 0;
    Section s = {.id = id};
    MPI_Comm_split(MPI_COMM_WORLD, in ? MPI_UNDEFINED : id < 4 ? colours[id] : 0, id == 3 ? -rank : rank, &s.comm);
    if (s.comm == MPI_COMM_NULL) continue;
    MPI_Comm_rank(s.comm, &s.rank);
    MPI_Comm_size(s.comm, &s.size);
    sections[count++] = s;
  }
  return count;
}

/* Every rank tells the next ones; they listen to anybody. */
static void start_notes(int rank, int size, int round, int* told, int* heard, MPI_Request* requests) {
  for (int i = 0; i < notes; ++i) {
    told[i] = round * 1000 + rank;
    heard[i] = -1;
    MPI_Irecv(&heard[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(&told[i], 1, MPI_INT, (rank + i) % size, i, MPI_COMM_WORLD, &requests[notes + i]);
  }
}

static int wrong_notes(int size, int rank, int round, const int* heard) {
  int sum = 0, expected = 0;
  for (int i = 0; i < notes; ++i) {
    sum += heard[i];
    expected += round * 1000 + (rank - i % size + size) % size;
  }
  return sum != expected;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0, checked = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint64_t shared = argc > 1 ? (uint64_t)atoi(argv[1]) : 1, own = shared * 77 + (uint64_t)rank;
  Section sections[most_sections];
  const int count = make_sections(sections, &shared, rank, size);
  /* Wherry takes up a communicator at a blocking call. */
  for (int s = 0; s < count; ++s) MPI_Barrier(sections[s].comm);

  for (int round = 0; round < rounds; ++round) {
    Call plan[most_sections][per_section + 1] = {0};
    for (int id = 0; id < most_sections; ++id)
      for (int i = 0; i <= per_section; ++i) {
        const int large = below(&shared, 8) == 0;
        plan[id][i] = (Call){.kind = (Kind)below(&shared, 3),
                             .id = (round * most_sections + id) * 8 + i,
                             .count = 1 + below(&shared, large ? most_count : 12),
                             .request = MPI_REQUEST_NULL};
      }

    int turns[most_sections * per_section], done_of[most_sections] = {0}, all = 0;
    for (int s = 0; s < count; ++s)
      for (int i = 0; i < per_section; ++i) turns[all++] = s;
    shuffle(&own, turns, all);
    Call* calls[most_sections * per_section];
    MPI_Request requests[most_sections * per_section + 2 * notes];
    int told[notes], heard[notes];
    for (int t = 0; t < all; ++t) {
      const Section* section = &sections[turns[t]];
      Call* c = calls[t] = &plan[section->id][done_of[turns[t]]++];
      c->section = section;
      prepare(c);
      start(c);
    }
    start_notes(rank, size, round, told, heard, requests + all);
    /* Blocking calls while all those are under way; in every section after its others. */
    for (int s = 0; s < count; ++s) {
      Call* c = &plan[sections[s].id][per_section];
      c->section = &sections[s];
      prepare(c);
      perform(c);
      finish(c, &wrong);
      ++checked;
    }
    int order[most_sections * per_section + 2 * notes];
    for (int t = 0; t < all; ++t) requests[t] = calls[t]->request;
    for (int t = 0; t < all + 2 * notes; ++t) order[t] = t;
    shuffle(&own, order, all + 2 * notes);
    for (int t = 0; t < (all + 2 * notes) / 2; ++t) MPI_Wait(&requests[order[t]], MPI_STATUS_IGNORE);
    for (int left = 0; left != MPI_UNDEFINED;) MPI_Waitany(all + 2 * notes, requests, &left, MPI_STATUS_IGNORE);
    for (int t = 0; t < all; ++t) finish(calls[t], &wrong);
    wrong += wrong_notes(size, rank, round, heard);
    checked += all + 1;
  }
  for (int s = 0; s < count; ++s) MPI_Comm_free(&sections[s].comm);
  printf("rank %d: %d sections, %d checks, %d failures\n", rank, count, checked, wrong);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
