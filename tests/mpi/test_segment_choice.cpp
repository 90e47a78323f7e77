// Collectives on segments, chosen by the learner: right results whatever runs, the same choice on all ranks, and the
// library wherever Wherry must stay away.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "learning_ranks.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

/// What every rank contributes in a round: numbers that no other rank or round has.
struct Numbers {
  int rank, size, round, length;

  int of(int who, int i) const { return 7919 * (who + 1) + 31 * round + i; }
  std::vector<int> mine(int blocks = 1) const {
    std::vector<int> numbers(static_cast<std::size_t>(blocks * length));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = of(rank, static_cast<int>(i));
    return numbers;
  }
  /// Element i summed over the ranks.
  int sum(int i) const {
    int total = 0;
    for (int who = 0; who < size; ++who) total += of(who, i);
    return total;
  }
};

struct Calls {
  run::Runtime& runtime;
  Ranks& ranks;
  MPI_Comm comm;

  bool gathered(const Numbers& n, const std::vector<int>& all) const {
    bool right = true;
    for (int who = 0; who < n.size; ++who)
      for (int i = 0; i < n.length; ++i)
        right &= all[static_cast<std::size_t>(who * n.length + i)] == n.of(who, i);
    return right;
  }
  bool summed(const Numbers& n, const std::vector<int>& sums, int first = 0) const {
    bool right = true;
    for (int i = 0; i < n.length; ++i) right &= sums[static_cast<std::size_t>(i)] == n.sum(first + i);
    return right;
  }

  void allgather(const Numbers& n) {
    const std::vector<int> mine = n.mine();
    std::vector<int> all(static_cast<std::size_t>(n.size * n.length), -1);
    runtime.allgather({mine.data(), n.length, MPI_INT, all.data(), n.length, MPI_INT, comm}, [&] {
      return MPI_Allgather(mine.data(), n.length, MPI_INT, all.data(), n.length, MPI_INT, comm);
    });
    ranks.expect(gathered(n, all), "allgather delivered wrong data");
  }
  void gather(const Numbers& n, int root) {
    const std::vector<int> mine = n.mine();
    std::vector<int> all(static_cast<std::size_t>(n.size * n.length), -1);
    runtime.gather({mine.data(), n.length, MPI_INT, all.data(), n.length, MPI_INT, root, comm}, [&] {
      return MPI_Gather(mine.data(), n.length, MPI_INT, all.data(), n.length, MPI_INT, root, comm);
    });
    const bool untouched = std::ranges::all_of(all, [](int number) { return number == -1; });
    ranks.expect(n.rank == root ? gathered(n, all) : untouched, "gather delivered wrong data");
  }
  void scatter(const Numbers& n, int root) {
    const std::vector<int> all = n.mine(n.size);
    std::vector<int> mine(static_cast<std::size_t>(n.length), -1);
    runtime.scatter({all.data(), n.length, MPI_INT, mine.data(), n.length, MPI_INT, root, comm}, [&] {
      return MPI_Scatter(all.data(), n.length, MPI_INT, mine.data(), n.length, MPI_INT, root, comm);
    });
    bool right = true;
    for (int i = 0; i < n.length; ++i)
      right &= mine[static_cast<std::size_t>(i)] == n.of(root, n.rank * n.length + i);
    ranks.expect(right, "scatter delivered wrong data");
  }
  void bcast(const Numbers& n, int root) {
    std::vector<int> data =
        n.rank == root ? n.mine() : std::vector<int>(static_cast<std::size_t>(n.length), -1);
    runtime.bcast({data.data(), n.length, MPI_INT, root, comm},
                  [&] { return MPI_Bcast(data.data(), n.length, MPI_INT, root, comm); });
    bool right = true;
    for (int i = 0; i < n.length; ++i) right &= data[static_cast<std::size_t>(i)] == n.of(root, i);
    ranks.expect(right, "bcast delivered wrong data");
  }
  void reduce(const Numbers& n, int root) {
    const std::vector<int> mine = n.mine();
    std::vector<int> sums(mine.size(), -1);
    runtime.reduce({mine.data(), sums.data(), n.length, MPI_INT, MPI_SUM, root, comm}, [&] {
      return MPI_Reduce(mine.data(), sums.data(), n.length, MPI_INT, MPI_SUM, root, comm);
    });
    ranks.expect(n.rank != root || summed(n, sums), "reduce delivered wrong data");
  }
  void allreduce(const Numbers& n) {
    std::vector<int> sums = n.mine();
    runtime.allreduce({MPI_IN_PLACE, sums.data(), n.length, MPI_INT, MPI_SUM, comm}, [&] {
      return MPI_Allreduce(MPI_IN_PLACE, sums.data(), n.length, MPI_INT, MPI_SUM, comm);
    });
    ranks.expect(summed(n, sums), "allreduce delivered wrong data");
  }
  void reduce_scatter_block(const Numbers& n) {
    const std::vector<int> mine = n.mine(n.size);
    std::vector<int> sums(static_cast<std::size_t>(n.length), -1);
    runtime.reduce_scatter_block({mine.data(), sums.data(), n.length, MPI_INT, MPI_SUM, comm}, [&] {
      return MPI_Reduce_scatter_block(mine.data(), sums.data(), n.length, MPI_INT, MPI_SUM, comm);
    });
    ranks.expect(summed(n, sums, n.rank * n.length), "reduce_scatter_block delivered wrong data");
  }
  void barrier() {
    runtime.barrier({comm}, [&] { return MPI_Barrier(comm); });
  }
};

constexpr int rounds = 60;
constexpr int until_enabled = 20;  // calls after which the ranks have enabled it

/// Delays and noise, another root in each round, and two sizes.
void check_learning(Ranks& ranks, unsigned seed) {
  Witness witness;
  const Settings settings;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  Calls calls{runtime, ranks, MPI_COMM_WORLD};
  Disturbance disturbance(ranks, seed);
  for (int round = 0; round < rounds; ++round) {
    const Numbers n{ranks.rank, ranks.size, round, round % 3 == 0 ? 900 : 5};
    const int root = round % ranks.size;
    disturbance.strike();
    calls.allgather(n);
    calls.bcast(n, root);
    calls.reduce(n, root);
    disturbance.strike();
    calls.gather(n, root);
    calls.scatter(n, root);
    calls.allreduce(n);
    disturbance.strike();
    calls.reduce_scatter_block(n);
    calls.barrier();
  }
  runtime.finalize();
  ranks.expect(ranks.agree(witness.history), "the ranks ran different strategies");
  ranks.expect(ranks.size == 1 || witness.decisions[profile::Reason::trial] > 0, "nothing was tried");
  const long by_strategies = witness.calls - witness.by_strategy["native"];
  ranks.expect(ranks.size == 1 || by_strategies > 0, "nothing ran by a strategy");
}

void reduce_reals(run::Runtime& runtime, MPI_Op op) {
  double mine = 0.1, result = 0;
  runtime.allreduce({&mine, &result, 1, MPI_DOUBLE, op, MPI_COMM_WORLD},
                    [&] { return MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, op, MPI_COMM_WORLD); });
}

void sum_integers(run::Runtime& runtime) {
  int mine = 3, result = 0;
  runtime.allreduce({&mine, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD},
                    [&] { return MPI_Allreduce(&mine, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); });
}

/// What reduces reals stays native: the order of a sum shows in its bits, and that of a maximum where NaN or zeros of
/// both signs take part. Integers are exact and need not.
void check_reproducible(Ranks& ranks) {
  Settings settings;
  settings.reproducible = true;
  settings.strategies[index_of(Collective::allreduce)] = "direct";
  Witness witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_MIN})
    for (int i = 0; i < until_enabled; ++i) reduce_reals(runtime, op);
  ranks.expect(witness.calls == 0, "reals ran by a strategy although results must be reproducible");
  ranks.expect(witness.fallbacks > 0, "nothing was said about the reductions that were native");
  for (int i = 0; i < 5; ++i) sum_integers(runtime);
  ranks.expect(ranks.size == 1 || witness.by_strategy["direct"] == 5, "an exact reduction was native");
  runtime.finalize();
}

void first(void*, void*, int*, MPI_Datatype*) {}

/// With an operation that does not commute, "ring" may not run: it reduces in another order.
void check_order(Ranks& ranks) {
  Settings settings;
  settings.strategies[index_of(Collective::allreduce)] = "ring";
  Witness witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  MPI_Op ordered = MPI_OP_NULL;
  MPI_Op_create(first, 0, &ordered);
  for (int i = 0; i < until_enabled; ++i) reduce_reals(runtime, ordered);
  ranks.expect(witness.by_strategy["ring"] == 0, "an operation that does not commute was reordered");
  for (int i = 0; i < 5; ++i) reduce_reals(runtime, MPI_SUM);
  ranks.expect(ranks.size < 3 || witness.by_strategy["ring"] == 5, "the strategy asked for did not run");
  MPI_Op_free(&ordered);
  runtime.finalize();
}

/// Ranks that were told different things enable the communicator all the same, and all stays native.
void check_disagreeing_settings(Ranks& ranks) {
  Settings settings;
  if (ranks.rank == 0) settings.strategies[index_of(Collective::bcast)] = "linear";
  Witness witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  Calls calls{runtime, ranks, MPI_COMM_WORLD};
  for (int i = 0; i < until_enabled; ++i) calls.bcast({ranks.rank, ranks.size, i, 5}, 0);
  ranks.expect(witness.calls == 0, "a strategy ran although the ranks have different settings");
  ranks.expect(ranks.size == 1 || witness.fallbacks > 0, "the fallback was not reported");
  runtime.finalize();
}

/// The library says what is wrong, and Wherry does not touch such calls.
void check_wrong_arguments(Ranks& ranks) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  Settings settings;
  settings.strategies[index_of(Collective::allreduce)] = "direct";
  settings.strategies[index_of(Collective::bcast)] = "linear";
  Witness witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  double mine = 1, result = 0;
  for (int i = 0; i < 3; ++i) {
    const auto reduce = [&] { return MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_BAND, comm); };
    const int reduced = runtime.allreduce({&mine, &result, 1, MPI_DOUBLE, MPI_BAND, comm}, reduce);
    const auto send = [&] { return MPI_Bcast(&mine, 1, MPI_DOUBLE, ranks.size, comm); };
    const int sent = runtime.bcast({&mine, 1, MPI_DOUBLE, ranks.size, comm}, send);
    ranks.expect(reduced != MPI_SUCCESS && sent != MPI_SUCCESS, "wrong arguments were accepted");
  }
  ranks.expect(witness.calls == 0, "a strategy ran with wrong arguments");
  runtime.finalize();
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  for (const unsigned seed : {1u, 2u}) check_learning(ranks, seed);
  check_reproducible(ranks);
  check_order(ranks);
  check_disagreeing_settings(ranks);
  check_wrong_arguments(ranks);
  long sum = 0;
  MPI_Allreduce(&ranks.failures, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (ranks.rank == 0) std::printf("choice on segments: %ld failures on %d ranks\n", sum, ranks.size);
  MPI_Finalize();
  return sum != 0;
}
