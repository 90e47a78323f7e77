// Intercommunicators are native, with the reason.
//
// Runs under mpiexec at any number of ranks.
// ranks: 2 3 5 8
#include <mpi.h>

#include <vector>

#include "edge_bench.hpp"

namespace {

using namespace wherry::test;

void between_groups(Bench& b) {
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 3, &inter);
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  b.left_alone("intercommunicator", before_and_after, [&] {
    for (int call = 0; call < before_and_after; ++call) {
      std::vector<int> out = all(others, rank), in = all(others, -1);
      b.alltoall({out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, inter});
      for (int r = 0; r < others; ++r)
        b.expect(in[static_cast<std::size_t>(r)] == 2 * r + (rank % 2 == 0 ? 1 : 0), "intercommunicator");
    }
  });
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

constexpr Case cases[] = {
    {"even and odd ranks", between_groups},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("intercommunicators", failures_of(cases));
}
