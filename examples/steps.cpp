// C++: a plan. Each step exchanges a block with every rank while the interior is computed, as spectral solvers do, and
// starts the same plan again. Prints what ran.
#include <wherry/plan.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr int steps = 20;
constexpr std::size_t block = 256;

/// Something to do that needs none of what arrives.
double compute_inside(std::vector<double>& interior) {
  for (double& value : interior) value = 0.5 * value + 1;
  return std::accumulate(interior.begin(), interior.end(), 0.0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int wrong = 0;
  {
    std::vector<double> send(block * static_cast<std::size_t>(ranks)), receive(send.size()), interior(4096);
    wherry::Plan exchange = wherry::alltoall_plan(send, receive, MPI_COMM_WORLD);
    for (int step = 0; step < steps; ++step) {
      for (std::size_t i = 0; i < send.size(); ++i) send[i] = step * 1000 + rank;
      exchange.start();
      compute_inside(interior);
      exchange.wait();
      for (std::size_t i = 0; i < receive.size(); ++i)
        wrong += receive[i] != step * 1000 + static_cast<int>(i / block);
    }
    if (rank == 0) std::printf("steps: %s, by %s\n", wrong == 0 ? "right" : "WRONG", exchange.strategy());
  }  // the plan goes before MPI does
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
