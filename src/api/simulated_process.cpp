// The C API in a program that SimGrid's SMPI runs: its ranks are threads of one process, so each has what a process has
// elsewhere, and learns by the simulated clock.

#include "api/process.hpp"
#include "base/settings.hpp"
#include "coll/choice/algorithm_candidates.hpp"
#include "mpi/simulated.hpp"

namespace wherry::api {
namespace {

/// What was learned of this machine says nothing about a simulated one.
Settings settings_of_simulation() {
  Settings settings = read_settings(read_variable, false);
  settings.features.tuning = false;
  settings.features.trial = false;        // a simulation is there to tell what takes how long, exactly
  settings.layout = LayoutLever::native;  // what copies cost is the simulator's to say
  return settings;
}

/// The ranks take turns: to count once what all of them may run saves most of their time.
const std::shared_ptr<run::AlgorithmCandidates>& candidates_of_all_ranks() {
  static const auto candidates = std::make_shared<run::AlgorithmCandidates>();
  return candidates;
}

class Rank final : public run::Observer {
 public:
  Rank()
      : settings_(settings_of_simulation()),
        runtime_(settings_, library(), this,
                 {.now = simulated_seconds, .candidates = candidates_of_all_ranks()}) {
    // Nothing progresses a plan but its owner's calls of plans. So between the start of a plan and its end a simulated
    // program calls nothing that waits for other ranks.
    runtime_.factory().drive([] { return std::string_view(); });
  }

  void used(MPI_Comm, const run::CellKey&, std::string_view strategy, std::uint64_t, std::uint64_t) override {
    last = strategy.data();
  }
  void decided(MPI_Comm, const run::CellKey&, std::uint32_t, std::string_view, profile::Reason, std::uint64_t,
               std::uint64_t) override {}
  void fell_back(Collective, std::string_view) override {}

  run::Runtime& runtime() { return runtime_; }
  const Settings& settings() const { return settings_; }
  const char* last = "";

 private:
  static double simulated_seconds() { return PMPI_Wtime(); }

  const Settings settings_;
  run::Runtime runtime_;
};

int make_key() {
  const auto end = [](MPI_Comm, int, void* rank, void*) -> int {
    static_cast<Rank*>(rank)->runtime().finalize();
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
  return key;
}

/// Kept where each rank has a place of its own.
Rank& rank() {
  static const int key = make_key();
  Rank* found = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(MPI_COMM_SELF, key, &found, &is_there);
  if (is_there == 0) PMPI_Comm_set_attr(MPI_COMM_SELF, key, found = new Rank);
  return *found;
}

}  // namespace

const mpi::Api& library() {
  static const mpi::Api api = mpi::simulated_api();
  return api;
}

run::Waiting waiting() { return run::Waiting::library; }
run::Runtime* runtime() { return &rank().runtime(); }
const Settings* settings_in_use() { return &rank().settings(); }

void LastStrategy::set(std::string_view name) { rank().last = name.data(); }
const char* LastStrategy::get() { return rank().last; }

}  // namespace wherry::api
