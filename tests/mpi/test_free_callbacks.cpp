// Communicators that the program uses in a callback of its own attributes, while they are freed.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include "edge_bench.hpp"

namespace {

using namespace wherry::test;

Bench* farewell = nullptr;
int talk_once_more(MPI_Comm comm, int, void*, void*) {
  for (int i = 0; i < before_and_after; ++i) farewell->talk(comm);
  return MPI_SUCCESS;
}

/// After each such communicator comes another, of other ranks, which may get its handle.
void used_while_freed(Bench& b) {
  farewell = &b;
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, talk_once_more, &keyval, nullptr);
  for (int round = 0; round < 4; ++round) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, round % 2 == 0 ? 0 : rank_of(MPI_COMM_WORLD) % 2, 0, &comm);
    if (round % 2 == 0) MPI_Comm_set_attr(comm, keyval, nullptr);
    for (int i = 0; i < before_and_after + round; ++i) b.talk(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_free_keyval(&keyval);
}

constexpr Case cases[] = {
    {"used while freed", used_while_freed},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("free callbacks", failures_of(cases));
}
