// WHERRY_WAIT holds for Wherry's own requests, too: messages, exchanges whose arguments are fixed, and collectives wait
// in the library or poll as it says, and bring the same data.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <vector>

#include "edge_bench.hpp"
#include "host/layout_messages.hpp"

namespace {

using namespace wherry;
using test::concluded;
using test::rank_of;
using test::size_of;

struct Counts {
  long waits = 0, tests = 0;
};
Counts counts;

int counted_wait(MPI_Request* request, MPI_Status* status) {
  return ++counts.waits, PMPI_Wait(request, status);
}
int counted_test(MPI_Request* request, int* flag, MPI_Status* status) {
  return ++counts.tests, PMPI_Test(request, flag, status);
}
int counted_exchange(const void* out, int sent, MPI_Datatype as, int to, int tag, void* in, int received,
                     MPI_Datatype is, int from, int its, MPI_Comm comm, MPI_Status* status) {
  ++counts.waits;
  return PMPI_Sendrecv(out, sent, as, to, tag, in, received, is, from, its, comm, status);
}

struct Bench {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = rank_of(comm), size = size_of(comm);
  int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const char* label = "";
  long failures = 0;

  void expect(bool holds, const char* what) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "rank %d, %s: %s\n", rank, label, what);
  }
};

struct Asked {
  const char* name;
  WaitMode mode;
  bool in_library;  // else by polling
};

/// A column of a matrix to the next rank, from the one before.
void fixed_exchange(Bench& b, run::LayoutMessages& messages) {
  constexpr int rows = 100, columns = 3;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, columns, MPI_INT, &column);
  MPI_Type_commit(&column);
  std::vector<int> out(rows * columns), in(rows * columns, -1);
  std::iota(out.begin(), out.end(), 1000 * b.rank);
  const auto plan =
      messages.plan({out.data(), 1, column, {b.next, 5}}, {in.data(), 1, column, {b.previous, 5}}, b.comm);
  counts = {};  // before that nothing was waited for that takes time
  for (int execution = 0; execution < 3; ++execution) {
    b.expect(plan->start() == MPI_SUCCESS && plan->wait() == MPI_SUCCESS, "the exchange failed");
    bool right = true;
    for (int i = 0; i < rows * columns; ++i)
      right &= in[static_cast<std::size_t>(i)] == (i % columns == 0 ? 1000 * b.previous + i : -1);
    b.expect(right, "wrong data");
  }
  MPI_Type_free(&column);
}

/// A step of a collective, on the communicator that Wherry has for it.
void step_of_a_collective(Bench& b, const run::Communicator& c) {
  int out = b.rank, in = -1;
  const int code = c.channel().exchange({&out, 1, MPI_INT}, {b.next, 1}, {&in, 1, MPI_INT}, {b.previous, 1});
  b.expect(code == MPI_SUCCESS && in == b.previous, "the channel's exchange failed");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  mpi::Api api = mpi::linked_api();
  api.Wait = counted_wait;
  api.Test = counted_test;
  api.Sendrecv = counted_exchange;
  const bool library_yields = run::waiting_in(api, WaitMode::automatic) == run::Waiting::library;
  const Asked all[] = {{"spin", WaitMode::spin, true},
                       {"yield", WaitMode::yield, false},
                       {"auto", WaitMode::automatic, library_yields}};
  Bench b;
  for (const Asked& asked : all) {
    b.label = asked.name;
    Settings settings;
    settings.wait = asked.mode;
    const run::Communicator communicator(b.comm, settings, api);
    run::LayoutMessages messages(api, run::waiting_in(api, asked.mode),
                                 [](const char*) -> const char* { return nullptr; });
    fixed_exchange(b, messages);
    step_of_a_collective(b, communicator);
    b.expect((counts.waits > 0) == asked.in_library, "waits in the library");
    b.expect((counts.tests > 0) == !asked.in_library, "polls");
  }
  return concluded("own waits", b.failures);
}
