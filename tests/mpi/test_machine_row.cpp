// The constants that rank 0 finds in its tuning file decide what all ranks try, whatever the others' files say.
//
// Runs under mpiexec at any number of ranks, on one host: each rank is a node of its own, and has a file of its own.
#include <mpi.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/machine_name.hpp"
#include "coll/choice/choosing.hpp"
#include "edge_bench.hpp"
#include "tuning/tuning_store.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

/// The defaults, but for one constant.
model::Machine costly(double model::Machine::* member, double value) {
  model::Machine machine;
  machine.*member = value;
  return machine;
}

/// A tuning file of this rank, gone at the end.
class File {
 public:
  explicit File(const char* name)
      : path_(std::filesystem::temp_directory_path() /
              ("wherry-" + std::string(name) + "-" + std::to_string(getpid()))) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    std::filesystem::remove(path_);
    std::filesystem::remove(path_ + ".lock");
  }
  const std::string& path() const { return path_; }
  /// A row of this machine and library.
  void hold(const model::Machine& machine) const {
    tuning::TuningTable table;
    table.put(tuning::MachineRow{{machine_name(), mpi::library_name(mpi::linked_api())},
                                 model::constants_of(machine)});
    if (const std::string problem = tuning::save(path_, table); !problem.empty())
      std::fprintf(stderr, "%s\n", problem.c_str());
  }

 private:
  std::string path_;
};

/// What is tried for one kind of call, and what the model expects of it.
using Shortlist = std::vector<tuning::Candidate>;

Shortlist shortlist(const Settings& settings, Collective collective) {
  const mpi::Api& api = mpi::linked_api();
  run::Communicator c(MPI_COMM_WORLD, settings, api);
  run::Staging staging{settings.staging_max};
  run::Choosing choosing(
      settings, api, std::make_shared<run::AlgorithmCandidates>(), staging, std::nullopt,
      +[] { return 0.0; });
  return choosing.choice(c, {collective, Limit::none, 11}, 0).cell.learner().candidates();
}

std::uint64_t fingerprint(const Shortlist& list) {
  std::uint64_t state = 0xcbf29ce484222325u;
  const auto add = [&state](std::uint64_t value) { state = (state ^ value) * 0x100000001b3u; };
  for (const tuning::Candidate& c : list) {
    for (const char letter : c.name) add(static_cast<unsigned char>(letter));
    add(std::bit_cast<std::uint64_t>(c.predicted_s));
  }
  return state;
}

bool same_on_all_ranks(std::uint64_t value) {
  std::uint64_t both[2] = {value, ~value}, most[2] = {};
  MPI_Allreduce(both, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return most[0] == ~most[1];
}

struct Checks {
  long failures = 0;
  void expect(bool holds, const char* law) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "rank %d of %d: %s\n", rank_of(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD), law);
  }
  /// The shortlist by rank 0's constants; the other ranks' files hold `others`.
  std::uint64_t with_row(Settings settings, Collective collective, const model::Machine& first,
                         const model::Machine& others) {
    const File file("machine-row");
    file.hold(rank_of(MPI_COMM_WORLD) == 0 ? first : others);
    settings.tuning_file = file.path();
    const std::uint64_t print = fingerprint(shortlist(settings, collective));
    expect(same_on_all_ranks(print), "the ranks expect different times");
    return print;
  }
};

long failures_of(Collective collective) {
  Checks checks;
  Settings settings;
  settings.ranks_per_node = 1;
  const model::Machine slow_messages = costly(&model::Machine::alpha_between_s, 1e-2);
  const model::Machine slow_bytes = costly(&model::Machine::beta_between_s, 1e-4);
  const std::uint64_t usual = fingerprint(shortlist(settings, collective));  // no file: the defaults
  const std::uint64_t few_messages = checks.with_row(settings, collective, slow_messages, slow_bytes);
  const std::uint64_t few_bytes = checks.with_row(settings, collective, slow_bytes, {});
  const std::uint64_t defaults = checks.with_row(settings, collective, {}, slow_bytes);
  checks.expect(defaults == usual, "a row with the defaults changes the shortlist");
  if (size_of(MPI_COMM_WORLD) > 1) {
    checks.expect(few_messages != usual, "the row of rank 0 changes nothing");
    checks.expect(few_bytes != few_messages, "two rows, one shortlist");
  }
  settings.features.tuning = false;
  checks.expect(checks.with_row(settings, collective, slow_messages, slow_messages) == usual,
                "the row counts though tuning is off");
  return checks.failures;
}

/// What costs most is avoided: the first choice by rows that differ.
long failures_of_names() {
  if (size_of(MPI_COMM_WORLD) < 5) return 0;  // fewer ranks leave little to choose
  Checks checks;
  Settings settings;
  settings.ranks_per_node = 1;
  const auto first_with = [&](const model::Machine& machine) {
    const File file("machine-row");
    file.hold(machine);
    settings.tuning_file = file.path();
    return shortlist(settings, Collective::alltoall)[1].name;
  };
  const std::string of_few_messages = first_with(costly(&model::Machine::alpha_between_s, 1e-2));
  const std::string of_few_bytes = first_with(costly(&model::Machine::beta_between_s, 1e-4));
  checks.expect(schedule::find_strategy(of_few_messages)->hops == schedule::Hops::several,
                "messages cost much, and yet nothing is combined");
  checks.expect(schedule::find_strategy(of_few_bytes)->hops == schedule::Hops::single,
                "bytes cost much, and yet they go twice");
  return checks.failures;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long failures =
      failures_of(Collective::alltoall) + failures_of(Collective::allreduce) + failures_of_names();
  return concluded("machine row", failures);
}
