// All ranks choose alike, whatever delays and noise they meet; what was learned is kept for the next run.
//
// Runs under mpiexec on one host: the ranks share a tuning file in the temporary directory.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "learning_ranks.hpp"
#include "tuning/tuning_store.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

void one_alltoall(run::Runtime& runtime, Ranks& ranks, MPI_Comm comm, int ints, int round) {
  std::vector<int> out(static_cast<std::size_t>(ranks.size * ints)), in(out.size(), -1);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = ranks.rank * 1000 + static_cast<int>(i) / ints + round;
  runtime.alltoall({out.data(), ints, MPI_INT, in.data(), ints, MPI_INT, comm},
                   [&] { return MPI_Alltoall(out.data(), ints, MPI_INT, in.data(), ints, MPI_INT, comm); });
  bool right = true;
  for (std::size_t i = 0; i < in.size(); ++i)
    right &= in[i] == static_cast<int>(i) / ints * 1000 + ranks.rank + round;
  ranks.expect(right, "alltoall delivered wrong data while learning");
}

void one_alltoallv(run::Runtime& runtime, Ranks& ranks, MPI_Comm comm, int scale, int round) {
  std::vector<int> counts, places, from_counts, from_places;
  int sent = 0, received = 0;
  for (int r = 0; r < ranks.size; ++r) {
    counts.push_back((ranks.rank + 2 * r + round) % 4 * scale);
    from_counts.push_back((r + 2 * ranks.rank + round) % 4 * scale);
    places.push_back(sent);
    from_places.push_back(received);
    sent += counts.back();
    received += from_counts.back();
  }
  std::vector<int> out(static_cast<std::size_t>(sent), ranks.rank),
      in(static_cast<std::size_t>(received), -1);
  runtime.alltoallv({out.data(), counts.data(), places.data(), MPI_INT, in.data(), from_counts.data(),
                     from_places.data(), MPI_INT, comm},
                    [&] {
                      return MPI_Alltoallv(out.data(), counts.data(), places.data(), MPI_INT, in.data(),
                                           from_counts.data(), from_places.data(), MPI_INT, comm);
                    });
  bool right = true;
  for (int r = 0; r < ranks.size; ++r)
    for (int i = 0; i < from_counts[static_cast<std::size_t>(r)]; ++i)
      right &= in[static_cast<std::size_t>(from_places[static_cast<std::size_t>(r)] + i)] == r;
  ranks.expect(right, "alltoallv delivered wrong data while learning");
}

Settings plain_settings(const std::string& tuning_file) {
  Settings settings;
  settings.tuning_file = tuning_file;
  return settings;
}

void check_agreement(Ranks& ranks, unsigned seed) {
  Witness witness;
  const Settings settings = plain_settings("");
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  Disturbance disturbance(ranks, seed);
  for (int round = 0; round < 150; ++round) {
    disturbance.strike();
    one_alltoall(runtime, ranks, MPI_COMM_WORLD, round % 3 == 0 ? 2 : 500, round);
    disturbance.strike();
    one_alltoallv(runtime, ranks, MPI_COMM_WORLD, round < 75 ? 3 : 700, round);
  }
  runtime.finalize();
  ranks.expect(ranks.agree(witness.history), "the ranks ran different strategies");
  ranks.expect(witness.calls >= (ranks.size > 1 ? 295 : 0), "calls were not reported");
  ranks.expect(ranks.size == 1 || witness.decisions[profile::Reason::trial] > 0, "nothing was tried");
}

/// A communicator may go while an agreement about it is under way, and many come and go.
void check_freed_communicators(Ranks& ranks) {
  const Settings settings = plain_settings("");
  run::Runtime runtime(settings, mpi::linked_api(), nullptr);
  for (int i = 0; i < 24; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int round = 0; round < i; ++round) one_alltoall(runtime, ranks, comm, 4, round);
    MPI_Comm_free(&comm);
  }
  runtime.finalize();
}

void check_persistence(Ranks& ranks, const std::string& file) {
  long trained = 0;
  bool saved_before = false;  // a choice that rests on a single call is not saved
  for (int run = 0; run < 2; ++run) {
    Witness witness;
    const Settings settings = plain_settings(file);
    run::Runtime runtime(settings, mpi::linked_api(), &witness);
    for (int round = 0; round < 120; ++round) one_alltoall(runtime, ranks, MPI_COMM_WORLD, 16, round);
    runtime.finalize();
    if (run == 0) trained = witness.decisions[profile::Reason::kept];
    ranks.expect(ranks.agree(witness.history), "the ranks ran different strategies with a tuning file");
    ranks.expect(trained > 0 || ranks.size == 1, "training did not end");
    if (run == 1 && saved_before) {
      ranks.expect(witness.decisions[profile::Reason::loaded] == 1, "the tuning file was not used");
      ranks.expect(witness.decisions[profile::Reason::trial] == 0,
                   "trained again in spite of the tuning file");
    }
    MPI_Barrier(MPI_COMM_WORLD);  // rank 0 has written
    saved_before = !tuning::load(file).table.rows().empty();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

double told_time = 0;

/// A clock that goes on only when it is read: what is timed takes a millisecond.
double by_readings() { return told_time += 1e-3; }

/// Remembers when another than the library ran last.
class LastOther : public Witness {
 public:
  void used(MPI_Comm comm, const run::CellKey& kind, std::string_view strategy, std::uint64_t bytes,
            std::uint64_t ns) override {
    Witness::used(comm, kind, strategy, bytes, ns);
    if (strategy != "native") last = calls;
  }
  long last = 0;
};

/// Where native is best, most calls take the fast path, on ranks whose types are predefined; others say the same by
/// types of their own, and do not. Yet all re-evaluate at the same call.
void check_fast_path_calls(Ranks& ranks) {
  constexpr int rounds = 700, ints = 2;
  LastOther witness;
  const Settings settings = plain_settings("");
  run::Runtime runtime(settings, mpi::linked_api(), &witness, {.now = by_readings});
  std::vector<int> out(static_cast<std::size_t>(ranks.size * ints)), in(out.size());
  bool right = true;
  const bool has_own_type = ranks.rank % 2 == 1;
  MPI_Datatype both = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(ints, MPI_INT, &both);
  MPI_Type_commit(&both);
  const MPI_Datatype type = has_own_type ? both : MPI_INT;
  const int count = has_own_type ? 1 : ints;
  for (int round = 0; round < rounds; ++round) {
    for (int& value : out) value = ranks.rank * 1000 + round;
    runtime.alltoall({out.data(), count, type, in.data(), count, type, MPI_COMM_WORLD}, [&] {
      // A little less than the others take, which so remain worth a re-evaluation; their arguments are read, where all
      // calls are alike.
      told_time += has_own_type ? -0.05e-3 : 0.9e-3;
      return MPI_Alltoall(out.data(), count, type, in.data(), count, type, MPI_COMM_WORLD);
    });
    for (std::size_t i = 0; i < in.size(); ++i) right &= in[i] == static_cast<int>(i) / ints * 1000 + round;
  }
  runtime.finalize();
  MPI_Type_free(&both);
  ranks.expect(right, "alltoall delivered wrong data while nothing was to be learned");
  ranks.expect(ranks.agree(witness.history), "ranks re-evaluated at different calls");
  ranks.expect(ranks.size <= 2 || witness.last > rounds / 2, "nobody re-evaluated");
  ranks.expect(ranks.size == 1 || witness.by_strategy["native"] > rounds / 2,
               "calls took what native ones do not, and ran");
  ranks.expect(ranks.size == 1 || witness.calls >= rounds - 1, "calls were not reported");
}

/// Where many sizes take turns, the arguments of native calls are read as well: a strategy is not charged for them, and
/// wins if it takes less than the library.
void check_many_sizes_in_turns(Ranks& ranks) {
  constexpr int rounds = 700;
  Witness witness;
  const Settings settings = plain_settings("");
  run::Runtime runtime(settings, mpi::linked_api(), &witness, {.now = by_readings});
  std::vector<int> out(static_cast<std::size_t>(ranks.size) * 64, ranks.rank), in(out.size());
  for (int round = 0; round < rounds; ++round) {
    const int ints = 33 + round % 31;  // of one size class
    runtime.alltoall({out.data(), ints, MPI_INT, in.data(), ints, MPI_INT, MPI_COMM_WORLD}, [&] {
      told_time += 0.3e-3;
      return MPI_Alltoall(out.data(), ints, MPI_INT, in.data(), ints, MPI_INT, MPI_COMM_WORLD);
    });
  }
  runtime.finalize();
  ranks.expect(ranks.agree(witness.history), "ranks ran different strategies of many sizes in turns");
  ranks.expect(ranks.size == 1 || witness.by_strategy["native"] < rounds / 2,
               "strategies were charged for what native calls take as well");
}

/// What ran last, and natively of the last calls.
class LastCalls : public Witness {
 public:
  void used(MPI_Comm comm, const run::CellKey& kind, std::string_view strategy, std::uint64_t bytes,
            std::uint64_t ns) override {
    Witness::used(comm, kind, strategy, bytes, ns);
    was_native = strategy == "native";
    native_in_turn += was_native;
  }
  bool was_native = true;
  long native_in_turn = 0;
};

/// Native calls take 2 ms more than others, which the learner sees; after those the program's own work takes so much
/// longer, which only its course shows. Returns how many of the last calls were native.
long run_course(Ranks& ranks, const Settings& settings, double slower_s, LastCalls& witness) {
  constexpr int rounds = 4000, last = 1000;
  run::Runtime runtime(settings, mpi::linked_api(), &witness, {.now = by_readings});
  double sum = 0, mine = 1;
  bool right = true;
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds - last) witness.native_in_turn = 0;
    runtime.allreduce({&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD}, [&] {
      told_time += 2e-3;
      return MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    });
    if (!witness.was_native) told_time += slower_s;
    right &= sum == ranks.size;
  }
  runtime.finalize();
  ranks.expect(right, "allreduce delivered wrong data while stretches were compared");
  ranks.expect(ranks.agree(witness.history), "the ranks ran different strategies in stretches");
  return witness.native_in_turn;
}

void check_controlled_trial(Ranks& ranks) {
  if (ranks.size == 1) return;
  LastCalls faster, slower, not_compared;
  const long native_of_faster = run_course(ranks, plain_settings(""), 0, faster);
  ranks.expect(faster.claim.verdict == tuning::Verdict::other, "a gain was not found");
  ranks.expect(faster.claim.gain.low > 0.3 && faster.claim.gain.high < 0.7, "a gain of some 50% is another");
  ranks.expect(native_of_faster < 100, "what is slower ran too often");
  const long native_of_slower = run_course(ranks, plain_settings(""), 3e-3, slower);
  ranks.expect(slower.claim.verdict == tuning::Verdict::native, "what slows the program down was kept");
  ranks.expect(slower.claim.gain.high < 0, "a loss was not claimed");
  ranks.expect(native_of_slower > 900, "what slows the program down was not given back");
  Settings settings = plain_settings("");
  settings.features.trial = ranks.rank != 0;
  run_course(ranks, settings, 0, not_compared);
  ranks.expect(not_compared.claim.pairs == 0, "stretches were compared against the settings of a rank");
}

/// Ranks that were told different things fall back to native calls together.
void check_disagreeing_settings(Ranks& ranks) {
  Settings settings = plain_settings("");
  if (ranks.rank == 0) settings.strategies[index_of(Collective::alltoall)] = "mesh";
  Witness witness;
  run::Runtime runtime(settings, mpi::linked_api(), &witness);
  for (int round = 0; round < 5; ++round) one_alltoall(runtime, ranks, MPI_COMM_WORLD, 8, round);
  ranks.expect(witness.calls == 0, "a strategy ran although the ranks have different settings");
  ranks.expect(ranks.size == 1 || witness.fallbacks > 0, "the fallback was not reported");
  runtime.finalize();
}

/// Sub-communicators of different placements learn side by side.
void check_subcommunicators(Ranks& ranks) {
  const Settings settings = plain_settings("");
  run::Runtime runtime(settings, mpi::linked_api(), nullptr);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, ranks.rank % 2, ranks.rank, &half);
  Ranks local;
  MPI_Comm_rank(half, &local.rank);
  MPI_Comm_size(half, &local.size);
  for (int round = 0; round < 60; ++round) {
    one_alltoall(runtime, local, half, 32, round);
    if (round % 5 == 0) one_alltoall(runtime, ranks, MPI_COMM_WORLD, 32, round);
  }
  ranks.failures += local.failures;
  MPI_Comm_free(&half);
  runtime.finalize();
}

/// The same fresh name on all ranks.
std::string shared_file() {
  int number = getpid();
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return std::filesystem::temp_directory_path() / ("wherry-test-tuning-" + std::to_string(number));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  const std::string file = shared_file();
  for (const unsigned seed : {1u, 2u}) check_agreement(ranks, seed);
  check_freed_communicators(ranks);
  check_fast_path_calls(ranks);
  check_many_sizes_in_turns(ranks);
  check_controlled_trial(ranks);
  check_persistence(ranks, file);
  check_disagreeing_settings(ranks);
  check_subcommunicators(ranks);
  long sum = 0;
  MPI_Allreduce(&ranks.failures, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (ranks.rank == 0) {
    unlink(file.c_str());
    unlink((file + ".lock").c_str());
    std::printf("learning: %ld failures on %d ranks\n", sum, ranks.size);
  }
  MPI_Finalize();
  return sum != 0;
}
