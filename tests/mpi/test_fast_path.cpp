// Calls that are native pass on the fast path: counted, as the others are, also where communicators come and go.
//
// Runs under mpiexec at any number of ranks.
// ranks: 2 3 5
#include <mpi.h>

#include <cstdio>
#include <random>
#include <span>
#include <vector>

#include "learning_ranks.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

/// Takes the time of native calls itself. Knows which passed, and which native ones were looked at.
class Timing : public Witness {
 public:
  std::uint32_t use_of(MPI_Comm, const run::CellKey&, std::string_view strategy) override {
    return strategy == "native" ? native_use : native_use + 1;
  }
  void begins(std::uint32_t use, std::uint64_t bytes) override {
    passed += use == native_use;
    passed_bytes += static_cast<long>(bytes);
  }
  long passed = 0, passed_bytes = 0;

 private:
  static constexpr std::uint32_t native_use = 7;
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
  constexpr int calls = 100, before_enabling = 20;
  Settings settings;
  settings.strategies[index_of(Collective::allreduce)] = "native";
  Timing witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  bool right = true;
  for (int call = 0; call < calls; ++call) right &= one_sum(runtime, MPI_COMM_WORLD, call);
  ranks.expect(right, "a native call delivered wrong data");
  ranks.expect(ranks.size == 1 || witness.passed > calls - before_enabling, "native calls were looked at");
  ranks.expect(ranks.size == 1 || witness.passed + witness.calls >= calls - before_enabling,
               "calls were not reported");
  const long passed = witness.passed;
  ranks.expect(runtime.force("ring"), "no such strategy");
  for (int call = 0; call < 10; ++call) right &= one_sum(runtime, MPI_COMM_WORLD, call);
  ranks.expect(right, "a forced call delivered wrong data");
  ranks.expect(witness.passed == passed, "native ran although a strategy was forced");
  ranks.expect(witness.passed_bytes == passed * static_cast<long>(sizeof(int)), "calls had another size");
  runtime.finalize();
}

struct Reduction {
  int count;
  MPI_Op op;
};

/// Calls of these signatures, each `turns` times, in random order or in turns. Whether the results are right.
bool reduce_in_turns(run::Runtime& runtime, const Ranks& ranks, std::span<const Reduction> kinds, int turns,
                     std::minstd_rand* random) {
  std::vector<double> mine(64, ranks.rank + 1), all(64);
  bool right = true;
  for (int call = 0; call < turns * static_cast<int>(kinds.size()); ++call) {
    const std::size_t next = random != nullptr ? (*random)() : static_cast<std::size_t>(call);
    const auto [count, op] = kinds[next % kinds.size()];
    runtime.allreduce({mine.data(), all.data(), count, MPI_DOUBLE, op, MPI_COMM_WORLD}, [&] {
      return MPI_Allreduce(mine.data(), all.data(), count, MPI_DOUBLE, op, MPI_COMM_WORLD);
    });
    const int sum = ranks.size * (ranks.size + 1) / 2;
    const double expected = op == MPI_SUM ? sum : op == MPI_MAX ? ranks.size : 1;
    for (int i = 0; i < count; ++i) right &= all[static_cast<std::size_t>(i)] == expected;
  }
  return right;
}

/// Sizes and operators in turns pass as calls of one signature do; of more than are remembered, some do.
void check_signatures_in_turns(Ranks& ranks) {
  constexpr int turns = 200, before_enabling = 20, first_calls = 5;
  constexpr unsigned seed = 11;
  std::vector<Reduction> kinds;
  for (const int count : {1, 2, 7, 64})
    for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_MIN}) kinds.push_back({count, op});
  Settings settings;
  settings.strategies[index_of(Collective::allreduce)] = "native";
  for (const std::size_t some : {2, 3, 8, 12})
    for (const bool in_random_order : {false, true}) {
      std::minstd_rand random(seed);
      Timing witness;
      run::Runtime runtime(settings, mpi::linked_api(), &witness);
      const bool right = reduce_in_turns(runtime, ranks, std::span(kinds).first(some), turns,
                                         in_random_order ? &random : nullptr);
      runtime.finalize();
      ranks.expect(right, "a call in turns delivered wrong data (seed 11)");
      const long calls = turns * static_cast<long>(some);
      const long most = calls - before_enabling - first_calls * static_cast<long>(some);
      const bool all_pass = witness.passed >= most;
      const bool some_pass = witness.passed >= calls / 3;
      ranks.expect(ranks.size == 1 || (some <= 8 ? all_pass : some_pass), "calls in turns were looked at");
    }
}

MPI_Datatype doubles(int count) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Calls of a derived type pass while it lives. Another one, which may get the handle of one that was freed, is looked
/// at first.
void check_derived_types(Ranks& ranks) {
  constexpr int calls = 60, before_enabling = 20, first_calls = 3;
  Settings settings;
  settings.strategies[index_of(Collective::bcast)] = "native";
  Timing witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  bool right = true;
  for (int length = 1; length <= 6; ++length) {
    MPI_Datatype type = doubles(length);
    witness.passed = witness.passed_bytes = 0;
    for (int call = 0; call < calls; ++call) {
      std::vector<double> values(static_cast<std::size_t>(length), ranks.rank == 0 ? call + length : 0);
      runtime.bcast({values.data(), 1, type, 0, MPI_COMM_WORLD},
                    [&] { return MPI_Bcast(values.data(), 1, type, 0, MPI_COMM_WORLD); });
      for (const double value : values) right &= value == call + length;
    }
    MPI_Type_free(&type);
    const long skipped = length == 1 ? before_enabling + first_calls : first_calls;
    ranks.expect(ranks.size == 1 || witness.passed >= calls - skipped,
                 "calls of a derived type were looked at");
    const long sent = ranks.rank == 0 ? length * static_cast<long>(sizeof(double)) : 0;
    ranks.expect(witness.passed_bytes == witness.passed * sent,
                 "calls passed as those of a type that is gone");
  }
  ranks.expect(right, "a broadcast of a derived type delivered wrong data");
  runtime.finalize();
}

/// Types that are freed after a few calls, of lengths that change: handles come again, of what passed and what did not.
void check_types_that_come_and_go(Ranks& ranks) {
  constexpr int types = 400;
  constexpr unsigned seed = 5;
  Settings settings;
  settings.strategies[index_of(Collective::bcast)] = "native";
  Timing witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  std::minstd_rand random(seed);
  bool right = true, as_they_are = true;
  for (int i = 0; i < types; ++i) {
    const int length = 1 + static_cast<int>(random() % 4);
    const long sent = ranks.rank == 0 ? length * static_cast<long>(sizeof(double)) : 0;
    MPI_Datatype type = doubles(length);
    for (unsigned call = random() % 6; call > 0; --call) {
      const long passed = witness.passed, bytes = witness.passed_bytes;
      std::vector<double> values(static_cast<std::size_t>(length), ranks.rank == 0 ? i : -1);
      runtime.bcast({values.data(), 1, type, 0, MPI_COMM_WORLD},
                    [&] { return MPI_Bcast(values.data(), 1, type, 0, MPI_COMM_WORLD); });
      for (const double value : values) right &= value == i;
      as_they_are &= witness.passed_bytes - bytes == (witness.passed - passed) * sent;
    }
    MPI_Type_free(&type);
  }
  ranks.expect(right, "a broadcast of a type that was soon freed delivered wrong data (seed 5)");
  ranks.expect(as_they_are, "a call passed as one of a type that is gone (seed 5)");
  runtime.finalize();
}

double told_time = 0;

/// A clock that goes on only when it is read.
double by_readings() { return told_time += 1e-3; }

/// Native is kept, and the challenge of it finds no difference: native calls pass also in the stretches that are
/// compared, but for ranks whose types are new in each call. Yet all run the same.
void check_while_undecided(Ranks& ranks) {
  constexpr int rounds = 1200, learning = 400;
  Timing witness;
  const Settings settings;
  run::Runtime runtime(settings, mpi::linked_api(), &witness, {.now = by_readings});
  std::minstd_rand random(3);
  const bool has_own_types = ranks.rank % 2 == 1;
  const int count = has_own_types ? 1 : 2;
  bool right = true;
  std::uint64_t history = 0;
  const auto run = [&](int round) {
    double values[2] = {ranks.rank == 0 ? round + 0.5 : 0, ranks.rank == 0 ? round + 0.25 : 0};
    const long calls = witness.calls, natives = witness.by_strategy["native"];
    MPI_Datatype type = MPI_DOUBLE;
    if (has_own_types) type = doubles(2);
    runtime.bcast({values, count, type, 0, MPI_COMM_WORLD},
                  [&] { return MPI_Bcast(values, count, type, 0, MPI_COMM_WORLD); });
    if (has_own_types) MPI_Type_free(&type);
    right &= values[0] == round + 0.5 && values[1] == round + 0.25;
    const bool is_other = witness.calls > calls && witness.by_strategy["native"] == natives;
    history = history * 1099511628211ull + (is_other ? 2 : 1);
    told_time += static_cast<double>(random() % 40) * 1e-3;  // whatever ran
  };
  for (int round = 0; round < learning; ++round) run(round);
  witness.passed = 0;
  witness.by_strategy.clear();
  for (int round = learning; round < rounds; ++round) run(round);
  runtime.finalize();
  const long looked_at = witness.by_strategy["native"],
             others = rounds - learning - looked_at - witness.passed;
  ranks.expect(right, "a broadcast delivered wrong data while stretches were compared");
  ranks.expect(ranks.agree(history), "ranks whose calls pass ran something else");
  if (ranks.size == 1) return;
  if (has_own_types) return ranks.expect(witness.passed == 0, "a call of a new type passed");
  ranks.expect(others > 20, "nothing was compared");
  // As many native calls are compared, of which those are looked at that begin or end a pair, and those of agreements.
  ranks.expect(looked_at < others, "native calls were looked at in stretches that are compared");
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
  check_signatures_in_turns(ranks);
  check_derived_types(ranks);
  check_types_that_come_and_go(ranks);
  check_while_undecided(ranks);
  check_handles_that_come_again(ranks);
  long sum = 0;
  MPI_Allreduce(&ranks.failures, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (ranks.rank == 0) std::printf("fast path: %ld failures on %d ranks\n", sum, ranks.size);
  MPI_Finalize();
  return sum != 0;
}
