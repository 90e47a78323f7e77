// Calls that are native pass on the fast path: counted, as the others are, also where communicators come and go.
//
// Runs under mpiexec at any number of ranks.
// ranks: 2 3 5
#include <mpi.h>

#include <cstdio>

#include "learning_ranks.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

/// Takes the time of native calls itself.
class Timing : public Witness {
 public:
  std::uint32_t use_of(MPI_Comm, const run::CellKey&, std::string_view) override { return 7; }
  void begins(std::uint32_t use, std::uint64_t bytes) override { passed += use == 7 && bytes == sizeof(int); }
  long passed = 0;
};

/// All ranks put in the same.
bool one_sum(run::Runtime& runtime, MPI_Comm comm, int mine) {
  int sum = 0, size = 0;
  MPI_Comm_size(comm, &size);
  runtime.allreduce({&mine, &sum, 1, MPI_INT, MPI_SUM, comm},
                    [&] { return MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm); });
  return sum == size * mine;
}

void check_native_by_settings(Ranks& ranks) {
  constexpr int calls = 100, before_joining = 20;
  Settings settings;
  settings.strategies[index_of(Collective::allreduce)] = "native";
  Timing witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  bool right = true;
  for (int call = 0; call < calls; ++call) right &= one_sum(runtime, MPI_COMM_WORLD, call);
  ranks.expect(right, "a native call delivered wrong data");
  ranks.expect(ranks.size == 1 || witness.passed > calls - before_joining, "native calls were looked at");
  ranks.expect(ranks.size == 1 || witness.passed + witness.calls >= calls - before_joining,
               "calls were not reported");
  const long passed = witness.passed;
  ranks.expect(runtime.force("ring"), "no such strategy");
  for (int call = 0; call < 10; ++call) right &= one_sum(runtime, MPI_COMM_WORLD, call);
  ranks.expect(right, "a forced call delivered wrong data");
  ranks.expect(witness.passed == passed, "native ran although a strategy was forced");
  runtime.finalize();
}

/// A handle that was freed comes again for another communicator.
void check_handles_that_come_again(Ranks& ranks) {
  const Settings settings;
  run::Runtime runtime(settings, mpi::linked_api(), nullptr);
  bool right = true;
  for (int i = 0; i < 6; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, i % 2 == 0 ? 0 : ranks.rank % 2, i % 3 == 0 ? ranks.rank : -ranks.rank,
                   &comm);
    for (int call = 0; call < 120; ++call) {  // 16 pass before it is enabled
      right &= one_sum(runtime, comm, call);
      right &= one_sum(runtime, MPI_COMM_WORLD, call);
    }
    MPI_Comm_free(&comm);
  }
  ranks.expect(right, "a call met the state of another communicator");
  runtime.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  check_native_by_settings(ranks);
  check_handles_that_come_again(ranks);
  long sum = 0;
  MPI_Allreduce(&ranks.failures, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (ranks.rank == 0) std::printf("fast path: %ld failures on %d ranks\n", sum, ranks.size);
  MPI_Finalize();
  return sum != 0;
}
