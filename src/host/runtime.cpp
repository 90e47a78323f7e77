#include "host/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>

#include "base/floating_point.hpp"
#include "base/nearest.hpp"
#include "coll/blocking.hpp"
#include "coll/choice/choosing.hpp"
#include "coll/choice/instructions.hpp"
#include "coll/choice/read.hpp"
#include "coll/fast_path.hpp"
#include "coll/neighborhood/neighborhood_collectives.hpp"
#include "coll/state/task.hpp"
#include "comm/communicator_registry.hpp"
#include "datatype/type_layouts.hpp"
#include "exec/layout_exchange.hpp"
#include "host/sparse_call.hpp"
#include "progress/factory.hpp"
#include "sparse/sparse_strategies.hpp"
#include "tuning/unknown_strategies.hpp"

namespace wherry::run {

namespace {

/// All-to-alls are the calls that gain most. Nothing else may count: ranks enable it in the same call, whatever each
/// was told.
template <class Call>
constexpr Weight weight_of = Exchange<Call> ? Weight::full : Weight::light;

}  // namespace

struct Runtime::State {
  State(const Settings& s, const mpi::Api& a, Observer* o, const Environment& around)
      : settings(s),
        api(a),
        staging(s.staging_max),
        choosing(s, a,
                 around.candidates != nullptr ? around.candidates : std::make_shared<AlgorithmCandidates>(),
                 staging, around.simulated, around.now),
        instructions(s),
        layouts(a),
        types(a),
        registry(
            s, a, around.while_freed, [this](Communicator& c, MPI_Comm comm) { prepare(c, comm); },
            [this](Communicator& c) { choosing.note(c); }),
        context{s, a, o, around.now, instructions, registry, choosing, staging, types},
        running(context),
        fast_path_calls(context, running),
        factory(context) {}

  bool is_away() const { return finished || !settings.enabled || !settings.features.collectives; }
  template <class Call>
  int run(const Call& call, const Native& native);
  template <class Call>
  int run_on_ranks(const Call& call, const Native& native);
  template <class Call>
  [[gnu::noinline]] int run_enabled(Communicator& c, Collective collective, const Call& call,
                                    const Native& native);
  template <class Call>
  Communicator* enabled(Collective collective, const Call& call);
  void prepare(Communicator& c, MPI_Comm comm);
  std::string_view reason_to_leave_segments(Communicator& c, const SegmentCall& call);
  template <class Call>
  int run_neighbors(const Call& call, const Native& native);

  const Settings& settings;
  const mpi::Api& api;
  Staging staging;
  Choosing choosing;
  Instructions instructions;
  datatype::TypeLayouts layouts;
  datatype::WatchedTypes types;
  std::atomic<int> connections_left = most_shared_connections;
  CommunicatorRegistry registry;
  const RuntimeContext context;
  Running running;
  FastPathCalls fast_path_calls;
  OperationFactory factory;
  std::atomic<bool> finished = false;
};

/// Wherry's state of the communicator, or nullptr: the native collective must run.
template <class Call>
Communicator* Runtime::State::enabled(Collective collective, const Call& call) {
  if (is_away()) return nullptr;
  std::string_view refusal;
  const CommunicatorRegistry::Sound is_sound = [this, &call] { return is_valid(api, call); };
  Communicator* const c = registry.enabled(call.comm, weight_of<Call>, is_sound, &refusal);
  context.fall_back(collective, refusal);
  return c;
}

/// What calls that wait for no other rank find there. Collective over comm, whose ranks have just enabled it.
void Runtime::State::prepare(Communicator& c, MPI_Comm comm) {
  if (settings.features.nonblocking) neighborhood_of(c, comm);
  if (!c.agreement().layouts || !c.agreement().host_memory) return;
  LayoutState& state = c.state<LayoutState>();
  state.layouts = &layouts;
  state.shared = std::make_unique<SharedConnections>(connections_left);
}

/// Why the call must be native, alike on all ranks; empty if it need not.
std::string_view Runtime::State::reason_to_leave_segments(Communicator& c, const SegmentCall& call) {
  const std::string_view reason = reason_to_stay(settings, c, call, c.agreement().staging_max);
  if (!reason.empty() || choosing.reserve(c, most_staging(call, c.size()))) return reason;
  return "not every rank has the memory that blocks so different may need";
}

template <class Call>
int Runtime::State::run(const Call& call, const Native& native) {
  constexpr Collective collective = collective_of<Call>;
  if constexpr (is_neighborhood(collective)) return run_neighbors(call, native);
  else return run_on_ranks(call, native);
}

/// A call on the fast path takes the shortest path; the others, which do much, are kept out of it.
template <class Call>
int Runtime::State::run_on_ranks(const Call& call, const Native& native) {
  constexpr Collective collective = collective_of<Call>;
  Communicator* c = finished ? nullptr : registry.recent(call.comm);
  if (c == nullptr) c = enabled(collective, call);
  if (c == nullptr) return native();
  if constexpr (Comparable<Call>) {
    FastPath* const fast_path = FastPathCalls::of(*c, call);
    if (fast_path != nullptr && fast_path_calls.take(*fast_path, collective))
      return fast_path_calls.run(*fast_path, call.comm, native);
  }
  return run_enabled(*c, collective, call, native);
}

template <class Call>
int Runtime::State::run_enabled(Communicator& c, Collective collective, const Call& call,
                                const Native& native) {
  const CallTimer reading = [&]() -> CallTimer {
    if constexpr (Comparable<Call>) return fast_path_calls.reading(c, call);
    else return {context.now, false};
  }();
  Arguments& arguments = c.state<BlockingCall>().arguments;
  if (!read_work(api, call, c, arguments.blocks, arguments.segments)) return native();
  if constexpr (!Exchange<Call>) {
    const std::string_view reason = reason_to_leave_segments(c, arguments.segments);
    context.fall_back(collective, reason);
    if (!reason.empty()) return native();
  }
  const Described described = [&] {
    if constexpr (Exchange<Call>) return running.describe_exchange(c, collective, arguments.blocks);
    else return run::describe(arguments.segments, collective);
  }();
  const int code = running.run(c, call.comm, described, arguments, native, reading.seconds());
  if constexpr (Comparable<Call>) fast_path_calls.grow(c, call, described);
  return code;
}

template <class Call>
int Runtime::State::run_neighbors(const Call& call, const Native& native) {
  constexpr Collective collective = collective_of<Call>;
  if (is_away()) return native();
  std::string_view reason;
  const CommunicatorRegistry::Sound sound = [this, &call] { return is_sound(api, call); };
  Communicator* const c = registry.enabled(call.comm, Weight::light, sound, &reason);
  const Instruction::Kind asked = instructions.of(collective).kind;
  const bool is_native = c == nullptr || asked == Instruction::Kind::native;
  Neighborhood* const n = is_native ? nullptr : neighborhood_of(*c, call.comm);
  if (n != nullptr) reason = reason_to_leave(*n, asked == Instruction::Kind::named);
  context.fall_back(collective, reason);
  if (n == nullptr || !reason.empty()) return native();
  Arguments& arguments = c->state<BlockingCall>().arguments;
  if (!read_neighbors(api, call, n->topology(), arguments.neighbors)) return native();
  const Described described = describe_neighbors(*c, collective, arguments.neighbors);
  return running.run(*c, call.comm, described, arguments, native);
}

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return computed([&] { return std::chrono::duration<double>(now).count(); });
}

Runtime::Runtime(const Settings& settings, const mpi::Api& api, Observer* observer,
                 const Environment& environment)
    : state_(std::make_unique<State>(settings, api, observer, environment)) {}

Runtime::~Runtime() = default;

#define COLLECTIVE(value, name, nonblocking, arguments, variable) \
  int Runtime::value(const arguments& call, const Native& native) { return state_->run(call, native); }
#include "collectives.inc"
#undef COLLECTIVE

int Runtime::sparse_exchange(const SparseExchange& call, std::string_view* ran) {
  State& s = *state_;
  return run::sparse_exchange(s.api, s.is_away() ? nullptr : &s.registry, s.settings.sparse_exchange, call,
                              ran);
}

const FastPathCalls& Runtime::fast_path_calls() const { return state_->fast_path_calls; }

OperationFactory& Runtime::factory() { return state_->factory; }

const mpi::Api& Runtime::api() const { return state_->api; }

int Runtime::advance() { return state_->factory.progress().advance(); }

bool Runtime::is_idle() const { return state_->factory.progress().is_idle(); }

bool Runtime::force(std::string_view name) { return state_->instructions.force(name); }

void Runtime::finalize() {
  state_->finished = true;
  state_->factory.finish();
  state_->registry.detach_all();
  state_->choosing.save();
}

std::vector<std::string> unknown_settings(const Settings& settings) {
  std::vector<std::string> problems = tuning::unknown_strategies(settings.strategies);
  const std::vector<std::string_view> known = sparse_strategy_names();
  if (const std::string& asked = settings.sparse_exchange; std::ranges::find(known, asked) == known.end())
    problems.push_back("WHERRY_SPARSE_EXCHANGE='" + asked.substr(0, 60) +
                       "' names no strategy; sparse exchanges fall back to native collectives" +
                       did_you_mean(asked, known));
  return problems;
}

}  // namespace wherry::run
