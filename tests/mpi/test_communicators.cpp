// Lives of communicators: short, copied, divided, with attributes and with other collectives under way.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include <vector>

#include "edge_bench.hpp"

namespace {

using namespace wherry::test;

void short_lived(Bench& b) {
  for (int uses = 0; uses < 12; ++uses) {
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    // The first call on each is native.
    if (uses > 0) b.as_fits(comm, uses - 1, [&] { b.talk_times(comm, uses); });
    MPI_Comm_free(&comm);
  }
}

void duplicates_of_enabled(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  b.as_fits(comm, 2, [&] { b.talk_times(comm, 3); });
  MPI_Comm copy = duplicate(comm);
  MPI_Comm_free(&comm);
  b.as_fits(copy, 2, [&] { b.talk_times(copy, 3); });
  MPI_Comm_free(&copy);
}

void halves(Bench& b) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % 2, -rank_of(MPI_COMM_WORLD), &half);
  const int calls = before_and_after + rank_of(MPI_COMM_WORLD) % 2;
  b.as_fits(half, calls - 1, [&] { b.talk_times(half, calls); });
  MPI_Comm_free(&half);
}

int copies = 0, deletions = 0;
int count_copy(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
  ++copies;
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}
int count_deletion(MPI_Comm, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}

void attributes_untouched(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(count_copy, count_deletion, &keyval, nullptr);
  MPI_Comm_set_attr(comm, keyval, &keyval);
  copies = deletions = 0;
  b.repeat(comm, 1, [&] { b.talk(comm); });
  b.expect(copies == 0 && deletions == 0, "the program's attribute callbacks ran");
  MPI_Comm_free(&comm);
  b.expect(copies == 0 && deletions == 1, "the program's attribute was not deleted once");
  MPI_Comm_free_keyval(&keyval);
}

/// Collectives of the program that are under way on the same communicator.
void others_under_way(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm);
  b.repeat(comm, 1, [&] {
    int one = 1, sum = 0;
    std::vector<int> out = all(n, rank_of(comm)), in = all(n, -1);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ialltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm, &requests[1]);
    b.talk(comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    b.expect(sum == n && in[0] == 0 && in.back() == n - 1, "a nonblocking collective went wrong");
  });
  MPI_Comm_free(&comm);
}

constexpr Case cases[] = {
    {"short-lived", short_lived},
    {"duplicates of enabled ones", duplicates_of_enabled},
    {"halves", halves},
    {"attributes", attributes_untouched},
    {"other collectives under way", others_under_way},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("communicators", failures_of(cases));
}
