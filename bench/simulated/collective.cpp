// How long does one collective take on a simulated machine, by the simulated clock?
//
//   simulate_collective.so --collective allreduce --size 1024 --strategy ring --nodes 16 --copy-rate 1e9
// A program for SimGrid's smpimain; `wherry simulate` writes the platform and starts it. Strategies: "native" is the
// simulator's own; "wherry" the whole runtime, which learns in up to --calls calls, of which the last counts;
// "wherry:mesh" the whole runtime told what to use. --constants: what the cost model knows of the machine. All ranks
// start at one instant; the time is up when the last one has all its data, which is checked.
// The clock is that of the network: SMPI lets memory copies take no time, so those of a strategy are charged here.
#include <simgrid/actor.h>

#include <iostream>
#include <string>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "comm/communicator_registry.hpp"
#include "exec/block_bindings.hpp"
#include "exec/executor.hpp"
#include "exec/segment_binding.hpp"
#include "measure.hpp"
#include "model/machine_constants.hpp"
#include "mpi/api.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "simulated/calls.hpp"
#include "simulated/metered.hpp"
#include "simulated/whole_path.hpp"
#include "tuning/candidates.hpp"

namespace {

using namespace wherry;
using simulated::Call;
using simulated::Case;
using simulated::Place;
using simulated::Tally;

constexpr std::string_view native_name = "native", wherry_name = "wherry";

/// What the command line asks for.
struct Asked {
  const Case& what;
  std::string strategy;
  topology::Placement placement;
  int block;
  int calls;  // of training at most
  double copy_bytes_per_s;
  model::Machine machine;
};

struct Result {
  double seconds = 0;
  Tally tally = {};
  int depth = 1;  // of a pipeline
  std::string chosen = {};
  long long trained_after = 0;
};

[[noreturn]] void refuse(const std::string& why) {
  if (bench::rank_of(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "simulate_collective: %s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

void require_right(const Asked& asked, const Call& call) {
  if (!simulated::is_right(asked.what, call))
    refuse("rank " + std::to_string(call.rank) + " did not get what it must");
}

/// Waits for an instant that is the same on all ranks, and returns it.
double start_together() {
  constexpr double margin_s = 1;  // simulated: far more than the reduction takes
  const double latest = apps::reduced(MPI_Wtime(), MPI_MAX, MPI_COMM_WORLD);
  sg_actor_sleep_until(latest + margin_s);
  return latest + margin_s;
}

/// Seconds of one call, which must succeed.
template <class Perform>
double timed(Perform&& perform) {
  const double start = start_together();
  if (perform() != MPI_SUCCESS) refuse("the collective failed");
  return MPI_Wtime() - start;
}

Result run_native(const Asked& asked, Call& call) {
  return {.seconds = timed([&] { return asked.what.call(call, nullptr); })};
}

template <class Schedule, class Binding>
Result run_schedule(const Asked& asked, const Schedule& schedule, Binding& binding) {
  const run::Channel channel(mpi::linked_api(), MPI_COMM_WORLD, run::Waiting::library);
  const Place place{asked.placement, schedule.rank, asked.copy_bytes_per_s};
  simulated::Metered metered(schedule, binding, place);
  run::Requests requests;
  const double seconds = timed([&] { return run::execute(schedule, metered, channel, 1, requests); });
  return {.seconds = seconds, .tally = metered.tally()};
}

Result run_exchange(const Asked& asked, const schedule::Strategy& strategy, Call& call) {
  const schedule::Schedule schedule = strategy.schedule(asked.placement, call.rank);
  const auto block = static_cast<std::size_t>(call.block);
  std::vector<std::byte> staging(static_cast<std::size_t>(schedule.slots) * block);
  run::UniformBinding binding(schedule, block, reinterpret_cast<const std::byte*>(call.send.data()),
                              reinterpret_cast<std::byte*>(call.receive.data()), staging.data());
  return run_schedule(asked, schedule, binding);
}

Result run_segments(const Asked& asked, const schedule::SegmentStrategy& strategy, int depth, Call& call) {
  const schedule::SegmentSchedule schedule =
      schedule::schedule(strategy, asked.placement, call.rank, {.depth = depth});
  const schedule::SegmentLayout layout = schedule::layout_of(schedule);
  const run::Cut cut{.units = static_cast<long long>(call.receive.size()), .segments = schedule.segments};
  std::vector<std::byte> working(run::SegmentBinding::working_bytes(schedule, layout, cut));
  const run::Reduction sum(mpi::linked_api(), MPI_SUM, MPI_UNSIGNED_CHAR, 1, true);
  std::byte* const buffer = reinterpret_cast<std::byte*>(call.receive.data());
  run::SegmentBinding binding(schedule, layout, cut, buffer, buffer, working.data(), &sum);
  Result result = run_schedule(asked, schedule, binding);
  result.depth = depth;
  return result;
}

/// The depth that the runtime would take. Counting takes long on many ranks, so rank 0 does it for all.
int depth_for(const Asked& asked, const schedule::SegmentStrategy& strategy, long long bytes) {
  int depth = 1;
  if (bench::rank_of(MPI_COMM_WORLD) == 0)
    depth = tuning::deepened(strategy, asked.placement,
                             {asked.placement.size(),
                              tuning::shared_bytes(bytes, schedule::in_blocks(strategy.operation))},
                             asked.machine)
                .depth();
  MPI_Bcast(&depth, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return depth;
}

Result run_strategy(const Asked& asked, Call& call) {
  if (asked.what.operation) {
    const bool in_blocks = schedule::in_blocks(*asked.what.operation);
    const auto bytes = in_blocks ? asked.block : static_cast<long long>(call.receive.size());
    const schedule::SegmentStrategy* const s = schedule::find_strategy(*asked.what.operation, asked.strategy);
    if (s != nullptr && s->applies(asked.placement))
      return run_segments(asked, *s, depth_for(asked, *s, bytes), call);
  } else {
    const schedule::Strategy* const s = schedule::find_strategy(asked.strategy);
    if (s != nullptr && s->applies(asked.placement)) return run_exchange(asked, *s, call);
  }
  refuse("strategy '" + asked.strategy + "' does not exist or does not apply to these ranks");
}

/// "mesh" of "wherry:mesh"; "auto" of "wherry"; nothing if the whole path is not asked for.
std::string told(const std::string& strategy) {
  if (strategy == wherry_name) return "auto";
  const std::string prefix = std::string(wherry_name) + ":";
  return strategy.starts_with(prefix) ? strategy.substr(prefix.size()) : "";
}

/// The ranks of a simulation are threads of one process that take turns.
const std::shared_ptr<run::AlgorithmCandidates>& candidates_of_process() {
  static const auto candidates = std::make_shared<run::AlgorithmCandidates>();
  return candidates;
}

/// The first calls on a communicator are native, whatever they move: small ones are simulated soonest.
void enable(const Asked& asked, const Call& call, run::Runtime& runtime) {
  Call small = simulated::prepared(asked.what, call.rank, call.size, 1);
  const auto weight = asked.what.operation ? run::Weight::light : run::Weight::full;
  const auto calls = static_cast<unsigned>(run::Weight::full) / static_cast<unsigned>(weight);
  for (unsigned i = 0; i < calls; ++i) asked.what.call(small, &runtime);
}

/// Of training, the last call is the first after it; what is asked for by name is made ready in the call before.
Result run_whole_path(const Asked& asked, Call& call) {
  const std::string strategy = told(asked.strategy);
  simulated::WholePath path(strategy, candidates_of_process(), asked.machine);
  const auto once = [&] { return timed([&] { return asked.what.call(call, &path.runtime()); }); };
  enable(asked, call, path.runtime());
  double seconds = 0;
  for (int i = 0; i < asked.calls && !path.ready(); ++i) {
    seconds = once();
    require_right(asked, call);
  }
  if (strategy != "auto") seconds = once();
  path.runtime().finalize();
  return {.seconds = seconds, .chosen = path.chosen().last(), .trained_after = path.chosen().trained_after()};
}

Result run_asked(const Asked& asked, Call& call) {
  if (asked.strategy == native_name) return run_native(asked, call);
  return told(asked.strategy).empty() ? run_strategy(asked, call) : run_whole_path(asked, call);
}

// ---- The answer

long long largest(long long mine) { return apps::reduced(mine, MPI_MAX, MPI_COMM_WORLD); }

/// The sum over the ranks of a node, of the node that has most.
long long largest_of_nodes(long long mine, const topology::Placement& placement) {
  std::vector<long long> own(static_cast<std::size_t>(placement.nodes()));
  own[static_cast<std::size_t>(placement.node_of(bench::rank_of(MPI_COMM_WORLD)))] = mine;
  return std::ranges::max(apps::reduced(own, MPI_SUM, MPI_COMM_WORLD));
}

bool chosen_alike(const std::string& mine) {
  const auto hash = static_cast<long long>(std::hash<std::string>{}(mine) >> 1);
  return largest(hash) == hash && largest(-hash) == -hash;
}

/// "SMPI Version 3.32", without what follows.
std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all = text;
  return all.substr(0, all.find(". "));
}

/// One JSON object on one line, by rank 0. Collective.
void print(const Asked& asked, const Result& mine) {
  const double seconds = apps::reduced(mine.seconds, MPI_MAX, MPI_COMM_WORLD);
  const Tally& did = mine.tally;
  const Tally most = {.messages = largest(did.messages),
                      .messages_between = largest_of_nodes(did.messages_between, asked.placement),
                      .bytes = largest(did.bytes),
                      .bytes_between = largest_of_nodes(did.bytes_between, asked.placement),
                      .copied_bytes = largest(did.copied_bytes)};
  if (!chosen_alike(mine.chosen)) refuse("the ranks chose differently");
  if (bench::rank_of(MPI_COMM_WORLD) != 0) return;
  std::printf(
      "{\"library\": \"%s\", \"seconds\": %.12g, \"messages\": %lld, \"messages_between\": %lld, \"bytes\": "
      "%lld, \"bytes_between\": %lld, \"copied_bytes\": %lld, \"depth\": %d, \"chosen\": %s, "
      "\"trained_after\": %lld}\n",
      library().c_str(), seconds, most.messages, most.messages_between, most.bytes, most.bytes_between,
      most.copied_bytes, mine.depth, json_string(mine.chosen).c_str(), mine.trained_after);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = bench::rank_of(MPI_COMM_WORLD), size = bench::size_of(MPI_COMM_WORLD);
  const std::string name = bench::option(argc, argv, "--collective", "alltoall");
  const Case* const what = simulated::find_case(name);
  if (what == nullptr) refuse("unknown collective '" + name + "'");
  const int block = bench::number(argc, argv, "--size", 64),
            nodes = bench::number(argc, argv, "--nodes", size);
  model::Machine machine;
  try {
    machine = model::machine_with(model::constants_in(bench::option(argc, argv, "--constants", "")));
  } catch (const usage_error& error) {
    refuse(error.what());
  }
  const Asked asked{.what = *what,
                    .strategy = bench::option(argc, argv, "--strategy", native_name),
                    .placement = topology::Placement::spread(size, nodes),
                    .block = block,
                    .calls = bench::number(argc, argv, "--calls", 128),
                    .copy_bytes_per_s = std::atof(bench::option(argc, argv, "--copy-rate", "1e9").c_str()),
                    .machine = machine};
  Call call = simulated::prepared(*what, rank, size, block);
  const Result result = run_asked(asked, call);
  require_right(asked, call);
  print(asked, result);
  MPI_Finalize();
}
