// A rank that is refused memory for staging: before a strategy is taken up, the call is native on all ranks;
// later, they go on with what they have made sure of.
//
// ranks: 3
#include <mpi.h>

#include <string_view>
#include <vector>

#include "edge_bench.hpp"
#include "refused_memory.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

constexpr int block = 10000;  // ints

std::vector<int> filled(int size, int value) {
  return std::vector<int>(static_cast<std::size_t>(size) * block, value);
}

void exchange(Bench& b, MPI_Comm comm) {
  const int rank = rank_of(comm), size = size_of(comm);
  std::vector<int> out = filled(size, rank), in = filled(size, -1);
  const int code = b.alltoall({out.data(), block, MPI_INT, in.data(), block, MPI_INT, comm});
  bool right = code == MPI_SUCCESS;
  for (int r = 0; r < size; ++r) right = right && in[static_cast<std::size_t>(r * block)] == r;
  b.expect(right, "an exchange went wrong");
}

void sum(Bench& b, MPI_Comm comm) {
  const int rank = rank_of(comm), size = size_of(comm);
  std::vector<int> mine = filled(size, rank), all = filled(size, -1);
  const int count = static_cast<int>(mine.size());
  const int code = b.runtime.allreduce({mine.data(), all.data(), count, MPI_INT, MPI_SUM, comm}, [&] {
    return PMPI_Allreduce(mine.data(), all.data(), count, MPI_INT, MPI_SUM, comm);
  });
  b.expect(code == MPI_SUCCESS && all.back() == size * (size - 1) / 2, "a sum went wrong");
}

/// Counts that differ: their size class does not tell how much memory they take.
void collect(Bench& b, MPI_Comm comm) {
  const int rank = rank_of(comm), size = size_of(comm);
  std::vector<int> counts = all(size, 1), places = all(size, 0);
  counts.back() = size * block;
  for (int r = 0; r < size; ++r) places[static_cast<std::size_t>(r)] = r;
  std::vector<int> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]), rank);
  std::vector<int> all(static_cast<std::size_t>(size - 1 + counts.back()), -1);
  const int count = static_cast<int>(mine.size());
  const int code = b.runtime.allgatherv(
      {mine.data(), count, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, comm}, [&] {
        return PMPI_Allgatherv(mine.data(), count, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT,
                               comm);
      });
  b.expect(code == MPI_SUCCESS && all.back() == size - 1 && all.front() == 0, "a collection went wrong");
}

struct Row {
  std::string_view strategy;  // one that needs staging
  void (*call)(Bench& b, MPI_Comm comm);
  std::string_view reason;
};

constexpr std::string_view of_strategy = "not every rank has the memory that the strategy asked for may need";
constexpr std::string_view of_blocks = "not every rank has the memory that blocks so different may need";

constexpr Row rows[] = {
    {"bruck2", exchange, of_strategy},
    {"recursive_doubling", sum, of_strategy},
    {"bruck", collect, of_blocks},
};

long failures_of(const Row& row, bool before) {
  const Settings settings = untuned();
  Witness witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  Bench b{runtime, witness, row.strategy,
          std::string(row.strategy) + (before ? ", refused before" : ", refused later")};
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  runtime.force("native");
  b.talk_times(comm, 2);  // enables it
  runtime.force(row.strategy);
  const auto calls = [&] {
    for (int i = 0; i < 3; ++i) row.call(b, comm);
  };
  if (before) {
    while_refused([&] { b.left_alone(row.reason, 1, calls); });
  } else {
    row.call(b, comm);
    while_refused([&] { b.as_meant(3, calls); });
  }
  MPI_Comm_free(&comm);
  runtime.finalize();
  return b.failures;
}

/// What is learned is learned of what all ranks have the memory for.
long failures_in_learning() {
  const Settings settings = untuned();
  Witness witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  Bench b{runtime, witness, learner, "learning without memory"};
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  b.talk_times(comm, 2);
  while_refused([&] {
    for (int i = 0; i < 12; ++i) exchange(b, comm), sum(b, comm);
  });
  for (const char* const strategy : {"bruck2", "mesh", "recursive_doubling", "ring"})
    b.expect(witness.ran(strategy) == 0, "a strategy ran without the memory that it needs");
  MPI_Comm_free(&comm);
  runtime.finalize();
  return b.failures;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long failures = failures_in_learning();
  for (const Row& row : rows)
    for (const bool before : {true, false}) failures += failures_of(row, before);
  return concluded("no memory", failures);
}
