#include "run/runtime.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>

#include "plan/segments/collectives.hpp"
#include "profile/record.hpp"
#include "run/attachments.hpp"
#include "run/choosing.hpp"
#include "run/describe.hpp"
#include "run/instructions.hpp"
#include "run/neighbours/perform.hpp"
#include "run/perform.hpp"
#include "run/read.hpp"
#include "run/segments/perform.hpp"
#include "run/sparse/call.hpp"
#include "run/started/starting.hpp"

namespace wherry::run {

namespace {

/// All-to-alls are the calls that gain most. Nothing else may count: ranks join in the same call, whatever each was told.
template <class Call>
constexpr Weight weight_of = Exchange<Call> ? Weight::full : Weight::light;

/// Measures one call, if anybody wants to know: reading the clock takes longer than all else that a native call costs.
class Stopwatch {
 public:
  Stopwatch(double (*now)(), bool wanted) : now_(wanted ? now : nullptr), start_(wanted ? now() : 0) {}
  double seconds() const { return now_ != nullptr ? now_() - start_ : 0; }

 private:
  double (*now_)();
  double start_;
};

std::uint64_t nanoseconds(double seconds) {
  return std::isfinite(seconds) ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
}

}  // namespace

struct Runtime::State {
  State(const Settings& s, const mpi::Api& a, Observer* o, const Surroundings& around)
      : settings(s),
        api(a),
        observer(o),
        now(around.now),
        staging(s.staging_max),
        choosing(s, a, around.offers != nullptr ? around.offers : std::make_shared<Offers>()),
        instructions(s),
        attachments(s, a, [this](Communicator& c) { choosing.note(c); }),
        starting({s, a, o, instructions, attachments, choosing, staging}) {}

  template <class Call>
  int run(Collective collective, const Call& call, const Native& native);
  template <class Call>
  Communicator* joined(Collective collective, const Call& call);
  void grow_quiet(Communicator& c, const Likeness& like, const Described& call);
  int run_quietly(Quiet& quiet, MPI_Comm comm, const Native& native);
  static void end_quiet(Quiet& quiet);
  template <class Call>
  int run_neighbours(const Call& call, const Native& native);
  int run_as(Communicator& c, MPI_Comm comm, const Described& call, const Native& native);

  Described describe_exchange(Communicator& c, Collective collective) const;
  std::uint32_t bucket(Communicator& c, Collective collective) const;
  std::optional<Way> asked_for(Communicator& c, const CellKey& key, const Instruction& asked);
  int perform(Communicator& c, const CellKey& key, const Way& way);
  void report_decisions(MPI_Comm comm, const CellKey& key, choose::Learner& learner) const;
  void miss(Collective collective, std::string_view reason) const {
    if (observer != nullptr && !reason.empty()) observer->missed(collective, reason);
  }

  const Settings& settings;
  const mpi::Api& api;
  Observer* observer;
  double (*const now)();
  Staging staging;
  Choosing choosing;
  Instructions instructions;
  Attachments attachments;
  Starting starting;
  std::atomic<bool> finished = false;
};

/// Wherry's state of the communicator, or nullptr: the library's own collective must run.
template <class Call>
Communicator* Runtime::State::joined(Collective collective, const Call& call) {
  if (finished || !settings.enabled || !settings.features.collectives) return nullptr;
  std::string_view refusal;
  const Attachments::Sound is_sound = [this, &call] { return is_valid(api, call); };
  Communicator* const c = attachments.joined(call.comm, weight_of<Call>, is_sound, &refusal);
  miss(collective, refusal);
  return c;
}

template <class Call>
int Runtime::State::run(Collective collective, const Call& call, const Native& native) {
  Communicator* const c = joined(collective, call);
  if (c == nullptr) return native();
  Quiet& quiet = c->quiet[index_of(collective)];
  if constexpr (Comparable<Call>)
    if (quiet.left > 0 && quiet.like == likeness_of(call) &&
        instructions.of(collective).kind == Instruction::Kind::learn)
      return run_quietly(quiet, call.comm, native);
  end_quiet(quiet);

  if (!read_work(api, call, *c, c->blocks, c->segments)) return native();
  if constexpr (!Exchange<Call>) {
    const std::string_view reason = reason_to_stay(settings, *c, c->segments);
    miss(collective, reason);
    if (!reason.empty()) return native();
  }
  const Described described = [&] {
    if constexpr (Exchange<Call>) return describe_exchange(*c, collective);
    else return run::describe(c->segments, collective);
  }();
  const int code = run_as(*c, call.comm, described, native);
  if constexpr (Comparable<Call>) grow_quiet(*c, likeness_of(call), described);
  return code;
}

/// Looks whether those that follow such calls need no more than the library. Not at the first of its kind, which may be the
/// only one.
void Runtime::State::grow_quiet(Communicator& c, const Likeness& like, const Described& call) {
  Quiet& quiet = c.quiet[index_of(call.key.collective)];
  if (quiet.like != like) {
    quiet = Quiet{};
    quiet.like = like;
    return;
  }
  if (instructions.of(call.key.collective).kind != Instruction::Kind::learn) return;
  Choice& choice = choosing.choice(c, call.key, call.root);
  const choose::Learner& learner = choice.cell.learner();
  if (learner.quiet() == 0 || choice.ways[learner.winner()]) return;
  if (!quiet.lasts) quiet.lasts = is_lasting(api, like);
  if (!*quiet.lasts) return;
  quiet.left = learner.quiet();
  quiet.choice = &choice;
  quiet.key = call.key;
  quiet.bytes = call.bytes;
}

int Runtime::State::run_quietly(Quiet& quiet, MPI_Comm comm, const Native& native) {
  --quiet.left;
  ++quiet.made;
  const Stopwatch watch(now, observer != nullptr);
  const int code = native();
  if (observer != nullptr)
    observer->used(comm, quiet.key, native_name, quiet.bytes, nanoseconds(watch.seconds()));
  return code;
}

/// Tells the learner of the calls that were made without it.
void Runtime::State::end_quiet(Quiet& quiet) {
  if (quiet.made > 0) quiet.choice->cell.learner().skip(quiet.made);
  quiet.made = quiet.left = 0;
}

template <class Call>
int Runtime::State::run_neighbours(const Call& call, const Native& native) {
  constexpr Collective collective = collective_of<Call>;
  if (finished || !settings.enabled || !settings.features.collectives) return native();
  std::string_view reason;
  const Attachments::Sound sound = [this, &call] { return is_sound(api, call); };
  Communicator* const c = attachments.joined(call.comm, Weight::light, sound, &reason);
  const Instruction::Kind asked = instructions.of(collective).kind;
  const bool is_native = c == nullptr || asked == Instruction::Kind::native;
  Neighbourhood* const n = is_native ? nullptr : neighbourhood_of(*c, call.comm);
  if (n != nullptr) reason = reason_to_leave(*n, asked == Instruction::Kind::named);
  miss(collective, reason);
  if (n == nullptr || !reason.empty() || !read_neighbours(api, call, n->topology(), n->call)) return native();
  const Described described{.key = {collective, Limit::none, neighbour_bucket(*c, collective)},
                            .bytes = static_cast<std::uint64_t>(n->call.bytes_sent(n->topology()))};
  return run_as(*c, call.comm, described, native);
}

int Runtime::State::run_as(Communicator& c, MPI_Comm comm, const Described& call, const Native& native) {
  const CellKey& key = call.key;
  const Instruction& asked = instructions.of(key.collective);
  Choice* const choice =
      asked.kind == Instruction::Kind::learn ? &choosing.choice(c, key, call.root) : nullptr;
  const std::optional<Way> way =
      choice != nullptr ? choice->ways[choice->cell.begin()] : asked_for(c, key, asked);

  const Stopwatch watch(now, observer != nullptr || (choice != nullptr && choice->cell.wants_time()));
  const int code = way ? perform(c, key, *way) : native();
  const double took = watch.seconds();

  if (choice != nullptr) {
    choice->cell.end(took);
    report_decisions(comm, key, choice->cell.learner());
  }
  if (observer != nullptr)
    observer->used(comm, key, way ? way->name() : native_name, call.bytes, nanoseconds(took));
  // The library has called the error handler for its own failures.
  if (code != MPI_SUCCESS && way) api.Comm_call_errhandler(comm, code);
  return code;
}

Described Runtime::State::describe_exchange(Communicator& c, Collective collective) const {
  return {.key = key_of(c.blocks, collective, bucket(c, collective)),
          .bytes = observer != nullptr ? static_cast<std::uint64_t>(c.blocks.bytes_sent()) : 0};
}

/// The way that the user named; none where it cannot be gone.
std::optional<Way> Runtime::State::asked_for(Communicator& c, const CellKey& key, const Instruction& asked) {
  if (asked.kind == Instruction::Kind::native) return std::nullopt;
  Asked& last = c.asked[key];
  if (last.name != asked.name) {
    const auto [way, problem] = choosing.named(c, key, asked.name);
    last = {asked.name, way, problem};
  }
  miss(key.collective, last.problem);
  return last.way;
}

/// The agreed size class of this all-to-all.
std::uint32_t Runtime::State::bucket(Communicator& c, Collective collective) const {
  if (collective == Collective::alltoall) return bucket_of(c.blocks);
  const double average = static_cast<double>(c.blocks.bytes_sent()) / c.size();
  return c.watches[{collective, c.blocks.in_place}].follow(average, c.channel());
}

int Runtime::State::perform(Communicator& c, const CellKey& key, const Way& way) {
  if (way.segments != nullptr) return perform_segments(c, way, staging);
  if (way.neighbours != nullptr) return perform_neighbours(c, key, *way.neighbours, staging);
  return key.collective == Collective::alltoall ? perform_uniform(c, *way.exchange, staging)
                                                : perform_irregular(c, *way.exchange, key.bucket, staging);
}

void Runtime::State::report_decisions(MPI_Comm comm, const CellKey& key, choose::Learner& learner) const {
  if (observer == nullptr) return;
  constexpr profile::Reason reasons[] = {profile::Reason::trial, profile::Reason::kept,
                                         profile::Reason::dropped, profile::Reason::loaded,
                                         profile::Reason::changed};
  for (const choose::Event& e : learner.drain_events())
    observer->decided(comm, key, static_cast<std::uint32_t>(e.call), learner.candidates()[e.candidate].name,
                      reasons[static_cast<std::size_t>(e.reason)], nanoseconds(e.seconds),
                      nanoseconds(e.native_seconds));
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Runtime::Runtime(const Settings& settings, const mpi::Api& api, Observer* observer,
                 const Surroundings& surroundings)
    : state_(std::make_unique<State>(settings, api, observer, surroundings)) {}

Runtime::~Runtime() = default;

int Runtime::alltoall(const Alltoall& call, const Native& native) {
  return state_->run(Collective::alltoall, call, native);
}

int Runtime::alltoallv(const Alltoallv& call, const Native& native) {
  return state_->run(Collective::alltoallv, call, native);
}

int Runtime::alltoallw(const Alltoallw& call, const Native& native) {
  return state_->run(Collective::alltoallw, call, native);
}

int Runtime::allgather(const Allgather& call, const Native& native) {
  return state_->run(Collective::allgather, call, native);
}

int Runtime::allgatherv(const Allgatherv& call, const Native& native) {
  return state_->run(Collective::allgatherv, call, native);
}

int Runtime::bcast(const Bcast& call, const Native& native) {
  return state_->run(Collective::bcast, call, native);
}

int Runtime::gather(const Gather& call, const Native& native) {
  return state_->run(Collective::gather, call, native);
}

int Runtime::scatter(const Scatter& call, const Native& native) {
  return state_->run(Collective::scatter, call, native);
}

int Runtime::reduce(const Reduce& call, const Native& native) {
  return state_->run(Collective::reduce, call, native);
}

int Runtime::allreduce(const Allreduce& call, const Native& native) {
  return state_->run(Collective::allreduce, call, native);
}

int Runtime::reduce_scatter_block(const ReduceScatterBlock& call, const Native& native) {
  return state_->run(Collective::reduce_scatter_block, call, native);
}

int Runtime::reduce_scatter(const ReduceScatter& call, const Native& native) {
  return state_->run(Collective::reduce_scatter, call, native);
}

int Runtime::barrier(const Barrier& call, const Native& native) {
  return state_->run(Collective::barrier, call, native);
}

int Runtime::neighbor_alltoall(const NeighborAlltoall& call, const Native& native) {
  return state_->run_neighbours(call, native);
}

int Runtime::neighbor_alltoallv(const NeighborAlltoallv& call, const Native& native) {
  return state_->run_neighbours(call, native);
}

int Runtime::neighbor_allgather(const NeighborAllgather& call, const Native& native) {
  return state_->run_neighbours(call, native);
}

int Runtime::neighbor_allgatherv(const NeighborAllgatherv& call, const Native& native) {
  return state_->run_neighbours(call, native);
}

int Runtime::sparse_exchange(const SparseExchange& call, std::string_view* ran) {
  State& s = *state_;
  const bool alone = s.finished || !s.settings.enabled || !s.settings.features.collectives;
  return run::sparse_exchange(s.api, alone ? nullptr : &s.attachments, s.settings.sparse_exchange, call, ran);
}

Starting& Runtime::starting() { return state_->starting; }

const mpi::Api& Runtime::api() const { return state_->api; }

int Runtime::advance() { return state_->starting.progress().advance(); }

bool Runtime::is_idle() const { return state_->starting.progress().is_idle(); }

bool Runtime::force(std::string_view name) { return state_->instructions.force(name); }

void Runtime::finalize() {
  state_->finished = true;
  state_->starting.finish();
  state_->attachments.detach_all();
  state_->choosing.save();
}

}  // namespace wherry::run
