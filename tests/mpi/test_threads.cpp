// Threads with a communicator each, in another order on every rank.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include <thread>
#include <vector>

#include "edge_bench.hpp"

namespace {

using namespace wherry::test;

constexpr int count = 2;
constexpr int calls = 8;

void a_communicator_each(Bench& b) {
  std::vector<MPI_Comm> comms;
  for (int i = 0; i < count; ++i) comms.push_back(duplicate(MPI_COMM_WORLD));
  std::vector<Bench> benches(count, b);
  b.as_fits(comms.front(), count * (calls - 1), [&] {
    std::vector<std::thread> workers;
    for (int i = 0; i < count; ++i) {
      const auto mine = static_cast<std::size_t>((i + rank_of(MPI_COMM_WORLD)) % count);
      workers.emplace_back([&, mine] { benches[mine].talk_times(comms[mine], calls); });
    }
    for (std::thread& worker : workers) worker.join();
  });
  for (const Bench& bench : benches) b.failures += bench.failures;
  MPI_Comm_free(&comms[0]);  // finalize() frees what belongs to the others
}

constexpr Case cases[] = {{"threads", a_communicator_each}};

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) return skipped("the library has no MPI_THREAD_MULTIPLE");
  return concluded("threads", failures_of(cases));
}
