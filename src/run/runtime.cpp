#include "run/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "profile/record.hpp"
#include "run/attachments.hpp"
#include "run/choosing.hpp"
#include "run/perform.hpp"
#include "run/read.hpp"
#include "run/segments/perform.hpp"
#include "run/sparse/call.hpp"
#include "run/started/progress.hpp"

namespace wherry::run {

namespace {

constexpr std::string_view native_name = "native";
constexpr std::string_view automatic_name = "auto";

/// All-to-alls are the calls that gain most. Nothing else may count: ranks join in the same call, whatever each was told.
template <class Call>
constexpr Weight weight_of = Exchange<Call> ? Weight::full : Weight::light;

/// How calls choose.
struct Instruction {
  enum class Kind { learn, native, named };
  Kind kind;
  std::string name = {};  // of the strategy that is named
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

Instruction instruction_for(const std::string& name) {
  if (name == automatic_name) return {Instruction::Kind::learn};
  if (name == native_name) return {Instruction::Kind::native};
  return {Instruction::Kind::named, name};
}

/// What the settings say of each collective.
std::vector<Instruction> own_instructions(const Settings& settings) {
  std::vector<Instruction> own;
  std::ranges::transform(settings.strategies, std::back_inserter(own), instruction_for);
  return own;
}

/// Everything that all collectives can be told at once.
std::vector<Instruction> possible_instructions() {
  std::vector<Instruction> all = {instruction_for(std::string(automatic_name)),
                                  instruction_for(std::string(native_name))};
  for (const plan::Strategy& s : plan::strategies()) all.push_back(instruction_for(std::string(s.name)));
  for (const plan::SegmentStrategy& s : plan::segment_strategies())
    all.push_back(instruction_for(std::string(s.name)));
  return all;
}

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

/// Of a call that has been read into its communicator.
struct Described {
  CellKey key;
  int root = 0;
  std::uint64_t bytes = 0;  // that this rank gives
};

}  // namespace

struct Runtime::State {
  State(const Settings& s, const mpi::Api& a, Observer* o, const Surroundings& around)
      : settings(s),
        api(a),
        observer(o),
        now(around.now),
        staging(s.staging_max),
        choosing(s, a, around.offers != nullptr ? around.offers : std::make_shared<Offers>()),
        own(own_instructions(s)),
        attachments(s, a, [this](Communicator& c) { choosing.note(c); }) {}

  template <class Call>
  int run(Collective collective, const Call& call, const Native& native);
  template <class Call>
  Communicator* joined(Collective collective, const Call& call);
  void grow_quiet(Communicator& c, const Likeness& like, const Described& call);
  int run_quietly(Quiet& quiet, MPI_Comm comm, Collective collective, const Native& native);
  static void end_quiet(Quiet& quiet);
  int run_as(Communicator& c, MPI_Comm comm, const Described& call, const Native& native);

  template <class Call>
  std::unique_ptr<Started> startable(Collective collective, const Call& call);
  template <class Call>
  int start(Collective collective, const Call& call, const Native& native, MPI_Request* request);

  Described describe_exchange(Communicator& c, Collective collective) const;
  Described describe_segments(const SegmentCall& call, Collective collective) const;
  Described describe(const Started& call, Collective collective) const;
  std::string_view why_not_started(const Communicator& c, const Started& call, Collective collective) const;
  std::optional<Way> way_to_start(Communicator& c, const CellKey& key);
  std::string_view reason_to_stay(const Communicator& c, const SegmentCall& call) const;
  std::uint32_t bucket(Communicator& c, Collective collective) const;
  const Instruction& instruction(Collective collective) const;
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
  const std::vector<Instruction> own;  // from the settings, by Collective
  Attachments attachments;
  Progress progress;
  std::function<void()> wake;  // empty: nobody would go on with what is started
  const std::vector<Instruction> possible = possible_instructions();
  std::atomic<const Instruction*> forced = nullptr;  // one of them, instead of `own`
  std::atomic<bool> finished = false;
};

/// Wherry's state of the communicator with the call read into it, or nullptr: the library's own collective must run.
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
        instruction(collective).kind == Instruction::Kind::learn)
      return run_quietly(quiet, call.comm, collective, native);
  end_quiet(quiet);

  if (!read_work(api, call, *c, c->blocks, c->segments)) return native();
  if constexpr (!Exchange<Call>) {
    const std::string_view reason = reason_to_stay(*c, c->segments);
    miss(collective, reason);
    if (!reason.empty()) return native();
  }
  const Described described = [&] {
    if constexpr (Exchange<Call>) return describe_exchange(*c, collective);
    else return describe_segments(c->segments, collective);
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
  if (instruction(call.key.collective).kind != Instruction::Kind::learn) return;
  Choice& choice = choosing.choice(c, call.key, call.root);
  const choose::Learner& learner = choice.cell.learner();
  if (learner.quiet() == 0 || choice.ways[learner.winner()]) return;
  if (!quiet.lasts) quiet.lasts = is_lasting(api, like);
  if (!*quiet.lasts) return;
  quiet.left = learner.quiet();
  quiet.choice = &choice;
  quiet.bucket = call.key.bucket;
  quiet.bytes = call.bytes;
}

int Runtime::State::run_quietly(Quiet& quiet, MPI_Comm comm, Collective collective, const Native& native) {
  --quiet.left;
  ++quiet.made;
  const Stopwatch watch(now, observer != nullptr);
  const int code = native();
  if (observer != nullptr)
    observer->used(comm, collective, quiet.bucket, native_name, quiet.bytes, nanoseconds(watch.seconds()));
  return code;
}

/// Tells the learner of the calls that were made without it.
void Runtime::State::end_quiet(Quiet& quiet) {
  if (quiet.made > 0) quiet.choice->cell.learner().skip(quiet.made);
  quiet.made = quiet.left = 0;
}

int Runtime::State::run_as(Communicator& c, MPI_Comm comm, const Described& call, const Native& native) {
  const CellKey& key = call.key;
  const Instruction& asked = instruction(key.collective);
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
    observer->used(comm, key.collective, key.bucket, way ? way->name() : native_name, call.bytes,
                   nanoseconds(took));
  // The library has called the error handler for its own failures.
  if (code != MPI_SUCCESS && way) api.Comm_call_errhandler(comm, code);
  return code;
}

Described Runtime::State::describe_exchange(Communicator& c, Collective collective) const {
  const Limit limit = c.blocks.in_place ? Limit::in_place : Limit::none;
  return {.key = {collective, limit, bucket(c, collective)},
          .bytes = observer != nullptr ? static_cast<std::uint64_t>(c.blocks.bytes_sent()) : 0};
}

Described Runtime::State::describe_segments(const SegmentCall& call, Collective collective) const {
  const Limit limit = call.reduces == Operator::user_ordered ? Limit::in_order : Limit::none;
  return {.key = {collective, limit, profile::bucket_of(static_cast<std::uint64_t>(call.block_bytes))},
          .root = call.root,
          .bytes = static_cast<std::uint64_t>(call.in.blocks * call.block_bytes)};
}

/// Why the library must perform the call in c, alike on all ranks; empty if it need not.
std::string_view Runtime::State::reason_to_stay(const Communicator& c, const SegmentCall& call) const {
  const bool reduces = call.reduces != Operator::unknown;
  if (reduces && settings.reproducible && depends_on_order(call.reduces))
    return "WHERRY_REPRODUCIBLE: the result depends on the order";
  // Blocks of one size class may be much larger than the average of their class: no strategy holds more than all of them twice.
  const long long most = call.differ ? call.total_bytes() + c.size() * call.widest : 0;
  return most > static_cast<long long>(c.terms().staging_max)
             ? "blocks differ so much that staging would not do"
             : "";
}

const Instruction& Runtime::State::instruction(Collective collective) const {
  const Instruction* const instead = forced.load(std::memory_order_acquire);
  return instead != nullptr ? *instead : own[index_of(collective)];
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
  if (collective == Collective::alltoall)
    return profile::bucket_of(static_cast<std::uint64_t>(c.blocks.block_bytes()));
  SizeWatch& watch = c.watches[{collective, c.blocks.in_place}];
  const double average = static_cast<double>(c.blocks.bytes_sent()) / c.size();
  if (!watch.started()) watch.start(average, c.channel());
  const std::uint32_t agreed = watch.bucket(c.channel());
  watch.saw(average, c.channel());
  return agreed;
}

int Runtime::State::perform(Communicator& c, const CellKey& key, const Way& way) {
  if (way.segments != nullptr) return perform_segments(c, way, staging);
  return key.collective == Collective::alltoall ? perform_uniform(c, *way.exchange, staging)
                                                : perform_irregular(c, *way.exchange, key.bucket, staging);
}

void Runtime::State::report_decisions(MPI_Comm comm, const CellKey& key, choose::Learner& learner) const {
  if (observer == nullptr) return;
  constexpr profile::Reason reasons[] = {profile::Reason::trial, profile::Reason::kept,
                                         profile::Reason::dropped, profile::Reason::loaded};
  for (const choose::Event& e : learner.drain_events())
    observer->decided(comm, key.collective, key.bucket, static_cast<std::uint32_t>(e.call),
                      learner.candidates()[e.candidate].name, reasons[static_cast<std::size_t>(e.reason)],
                      nanoseconds(e.seconds), nanoseconds(e.native_seconds));
}

Described Runtime::State::describe(const Started& call, Collective collective) const {
  if (segment_operation(collective)) return describe_segments(call.segments, collective);
  const Blocks& blocks = call.blocks;
  const Limit limit = blocks.in_place ? Limit::in_place : Limit::none;
  const auto bytes = static_cast<std::uint64_t>(blocks.bytes_sent());
  if (collective == Collective::alltoall)
    return {.key = {collective, limit, profile::bucket_of(static_cast<std::uint64_t>(blocks.block_bytes()))},
            .bytes = bytes};
  // The ranks cannot agree on a size now: what blocking calls have agreed on, or blocks of 1 KiB.
  constexpr std::uint32_t usual = 11;
  const auto& watches = call.communicator()->watches;
  const auto watch = watches.find({collective, blocks.in_place});
  const bool known = watch != watches.end() && watch->second.started();
  return {.key = {collective, limit, known ? watch->second.known_bucket() : usual}, .bytes = bytes};
}

std::string_view Runtime::State::why_not_started(const Communicator& c, const Started& call,
                                                 Collective collective) const {
  if (segment_operation(collective))
    if (const std::string_view reason = reason_to_stay(c, call.segments); !reason.empty()) return reason;
  if (call.blocks.in_place && collective != Collective::alltoall) return "in place, non-blocking";
  return call.problem();
}

std::optional<Way> Runtime::State::way_to_start(Communicator& c, const CellKey& key) {
  const Instruction& asked = instruction(key.collective);
  if (asked.kind == Instruction::Kind::learn) return choosing.way_without_asking(c, key);
  if (asked.kind == Instruction::Kind::native) return std::nullopt;
  const auto [way, problem] = choosing.named_without_asking(c, key, asked.name);
  if (observer != nullptr && !problem.empty()) observer->not_started(key.collective, problem);
  return way;
}

/// nullptr: the library's own form must start.
template <class Call>
std::unique_ptr<Started> Runtime::State::startable(Collective collective, const Call& call) {
  if (finished || !settings.enabled || !settings.features.nonblocking) return nullptr;
  const auto left = [&](std::string_view reason) {
    if (observer != nullptr && !reason.empty()) observer->not_started(collective, reason);
    return nullptr;
  };
  if (!wake) return left("the MPI library lets nobody take part in its progress");
  std::string_view refusal;
  const std::shared_ptr<Communicator> c = attachments.known(call.comm, &refusal);
  if (c == nullptr) return left(refusal);
  auto made = std::make_unique<Started>(c);
  if (!read_work(api, call, *c, made->blocks, made->segments)) return nullptr;
  if (const std::string_view reason = why_not_started(*c, *made, collective); !reason.empty())
    return left(reason);
  const Described described = describe(*made, collective);
  const std::optional<Way> way = way_to_start(*c, described.key);
  if (observer != nullptr)
    observer->started(call.comm, collective, described.key.bucket, way ? way->name() : native_name,
                      described.bytes);
  if (!way) return nullptr;
  made->prepare(*way, described.key, staging);
  return made;
}

template <class Call>
int Runtime::State::start(Collective collective, const Call& call, const Native& native,
                          MPI_Request* request) {
  progress.sweep();
  std::unique_ptr<Started> made = startable(collective, call);
  if (made == nullptr) return native();
  const int code = progress.start(std::move(made), request);
  if (code != MPI_SUCCESS) api.Comm_call_errhandler(call.comm, code);
  if (!progress.is_idle()) wake();
  return code;
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

int Runtime::sparse_exchange(const SparseExchange& call, std::string_view* ran) {
  State& s = *state_;
  const bool alone = s.finished || !s.settings.enabled || !s.settings.features.collectives;
  return run::sparse_exchange(s.api, alone ? nullptr : &s.attachments, s.settings.sparse_exchange, call, ran);
}

template <class Call>
int Runtime::start(const Call& call, const Native& native, MPI_Request* request) {
  return state_->start(collective_of<Call>, call, native, request);
}

template int Runtime::start(const Alltoall&, const Native&, MPI_Request*);
template int Runtime::start(const Alltoallv&, const Native&, MPI_Request*);
template int Runtime::start(const Alltoallw&, const Native&, MPI_Request*);
template int Runtime::start(const Allgather&, const Native&, MPI_Request*);
template int Runtime::start(const Allgatherv&, const Native&, MPI_Request*);
template int Runtime::start(const Bcast&, const Native&, MPI_Request*);
template int Runtime::start(const Gather&, const Native&, MPI_Request*);
template int Runtime::start(const Scatter&, const Native&, MPI_Request*);
template int Runtime::start(const Reduce&, const Native&, MPI_Request*);
template int Runtime::start(const Allreduce&, const Native&, MPI_Request*);
template int Runtime::start(const ReduceScatterBlock&, const Native&, MPI_Request*);
template int Runtime::start(const ReduceScatter&, const Native&, MPI_Request*);
template int Runtime::start(const Barrier&, const Native&, MPI_Request*);

void Runtime::drive(std::function<void()> wake) { state_->wake = std::move(wake); }

int Runtime::advance() { return state_->progress.advance(); }

bool Runtime::is_idle() const { return state_->progress.is_idle(); }

bool Runtime::force(std::string_view name) {
  const auto row = std::ranges::find(state_->possible, instruction_for(std::string(name)));
  if (row == state_->possible.end()) return false;
  const bool by_settings = row->kind == Instruction::Kind::learn;
  state_->forced.store(by_settings ? nullptr : &*row, std::memory_order_release);
  return true;
}

void Runtime::finalize() {
  state_->finished = true;
  state_->progress.abandon();
  state_->progress.sweep();
  state_->attachments.detach_all();
  state_->choosing.save();
}

}  // namespace wherry::run
