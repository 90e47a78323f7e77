#include "run/runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <vector>

#include "profile/record.hpp"
#include "run/attachments.hpp"
#include "run/choosing.hpp"
#include "run/perform.hpp"

namespace wherry::run {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view native_name = "native";
constexpr std::string_view automatic_name = "auto";

/// How calls choose.
struct Instruction {
  enum class Kind { learn, native, named };
  Kind kind;
  const plan::Strategy* strategy = nullptr;  // the one that is named; nullptr: there is none of that name
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

constexpr Instruction learn = {Instruction::Kind::learn};
constexpr Instruction native_only = {Instruction::Kind::native};

Instruction instruction_for(std::string_view name) {
  if (name == automatic_name) return learn;
  if (name == native_name) return native_only;
  return {Instruction::Kind::named, plan::find_strategy(name)};
}

std::vector<Instruction> possible_instructions() {
  std::vector<Instruction> all = {learn, native_only};
  for (const plan::Strategy& s : plan::strategies()) all.push_back({Instruction::Kind::named, &s});
  return all;
}

/// Measures one call, if anybody wants to know: reading the clock takes longer than all else that a native call costs.
class Stopwatch {
 public:
  explicit Stopwatch(bool wanted) : wanted_(wanted), start_(wanted ? Clock::now() : Clock::time_point{}) {}
  double seconds() const {
    return wanted_ ? std::chrono::duration<double>(Clock::now() - start_).count() : 0;
  }

 private:
  bool wanted_;
  Clock::time_point start_;
};

std::uint64_t nanoseconds(double seconds) {
  return std::isfinite(seconds) ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
}

}  // namespace

std::string_view name_of(Operation operation) {
  constexpr std::string_view names[operations] = {"MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"};
  return names[static_cast<std::size_t>(operation)];
}

struct Runtime::State {
  State(const Settings& s, const mpi::Api& a, Observer* o)
      : settings(s),
        api(a),
        observer(o),
        staging(s.staging_max),
        choosing(s, a),
        own{instruction_for(s.alltoall), instruction_for(s.alltoallv), instruction_for(s.alltoallw)},
        attachments(s, a, [this](Communicator& c) { choosing.note(c); }) {}

  template <class Call>
  int run(Operation operation, const Call& call, const Native& native);
  template <class Call>
  Communicator* ready(Operation operation, const Call& call);
  int run_as(Communicator& c, MPI_Comm comm, const CellKey& key, const Native& native);

  Instruction instruction(Operation operation) const;
  const plan::Strategy* asked_for(Communicator& c, const CellKey& key, const Instruction& asked);
  std::uint32_t bucket(Communicator& c, Operation operation) const;
  int perform(Communicator& c, const CellKey& key, const plan::Strategy& strategy);
  void report_decisions(MPI_Comm comm, const CellKey& key, choose::Learner& learner) const;
  void miss(Operation operation, std::string_view reason) const {
    if (observer != nullptr && !reason.empty()) observer->missed(operation, reason);
  }

  const Settings& settings;
  const mpi::Api& api;
  Observer* observer;
  Staging staging;
  Choosing choosing;
  const std::array<Instruction, operations> own;  // from the settings
  Attachments attachments;
  const std::vector<Instruction> possible = possible_instructions();
  std::atomic<const Instruction*> forced = nullptr;  // one of them, instead of `own`
  std::atomic<bool> finished = false;
};

/// Wherry's state of the communicator with the call's blocks read, or nullptr: the library's own collective must run.
template <class Call>
Communicator* Runtime::State::ready(Operation operation, const Call& call) {
  if (finished || !settings.enabled || !settings.features.collectives) return nullptr;
  std::string_view refusal;
  const Attachments::Sound is_sound = [this, &call] { return is_valid(api, call); };
  Communicator* const c = attachments.joined(call.comm, is_sound, &refusal);
  miss(operation, refusal);
  if (c == nullptr) return nullptr;
  read_blocks(api, call, c->size(), c->blocks);
  // Wrong arguments: the library says what is wrong with them.
  const bool empty = operation == Operation::alltoall && c->blocks.block_bytes() == 0;
  return c->blocks.valid && !empty ? c : nullptr;
}

template <class Call>
int Runtime::State::run(Operation operation, const Call& call, const Native& native) {
  Communicator* const c = ready(operation, call);
  if (c == nullptr) return native();
  return run_as(*c, call.comm, {operation, c->blocks.in_place, bucket(*c, operation)}, native);
}

int Runtime::State::run_as(Communicator& c, MPI_Comm comm, const CellKey& key, const Native& native) {
  const Instruction asked = instruction(key.operation);
  Cell* const cell = asked.kind == Instruction::Kind::learn ? &choosing.cell(c, key) : nullptr;
  const plan::Strategy* const strategy = cell != nullptr ? cell->begin() : asked_for(c, key, asked);
  const auto sent = observer != nullptr ? static_cast<std::uint64_t>(c.blocks.bytes_sent()) : 0;

  const Stopwatch watch(observer != nullptr || (cell != nullptr && cell->wants_time()));
  const int code = strategy != nullptr ? perform(c, key, *strategy) : native();
  const double took = watch.seconds();

  if (cell != nullptr) {
    cell->end(took);
    report_decisions(comm, key, cell->learner());
  }
  if (observer != nullptr)
    observer->used(comm, key.operation, key.bucket, strategy != nullptr ? strategy->name : native_name, sent,
                   nanoseconds(took));
  // The library has called the error handler for its own failures.
  if (code != MPI_SUCCESS && strategy != nullptr) api.Comm_call_errhandler(comm, code);
  return code;
}

Instruction Runtime::State::instruction(Operation operation) const {
  const Instruction* const instead = forced.load(std::memory_order_acquire);
  return instead != nullptr ? *instead : own[static_cast<std::size_t>(operation)];
}

/// The strategy that the user named; native where it cannot be used.
const plan::Strategy* Runtime::State::asked_for(Communicator& c, const CellKey& key,
                                                const Instruction& asked) {
  if (asked.kind == Instruction::Kind::native) return nullptr;
  const auto [strategy, problem] = choosing.named(c, key, asked.strategy);
  miss(key.operation, problem);
  return strategy;
}

/// The agreed size class of this call.
std::uint32_t Runtime::State::bucket(Communicator& c, Operation operation) const {
  if (operation == Operation::alltoall)
    return profile::bucket_of(static_cast<std::uint64_t>(c.blocks.block_bytes()));
  SizeWatch& watch = c.watches[{operation, c.blocks.in_place}];
  const double average = static_cast<double>(c.blocks.bytes_sent()) / c.size();
  if (!watch.started()) watch.start(average, c.channel());
  const std::uint32_t agreed = watch.bucket(c.channel());
  watch.saw(average, c.channel());
  return agreed;
}

int Runtime::State::perform(Communicator& c, const CellKey& key, const plan::Strategy& strategy) {
  return key.operation == Operation::alltoall ? perform_uniform(c, strategy, staging)
                                              : perform_irregular(c, strategy, key.bucket, staging);
}

void Runtime::State::report_decisions(MPI_Comm comm, const CellKey& key, choose::Learner& learner) const {
  if (observer == nullptr) return;
  constexpr profile::Reason reasons[] = {profile::Reason::trial, profile::Reason::kept,
                                         profile::Reason::dropped, profile::Reason::loaded};
  for (const choose::Event& e : learner.drain_events())
    observer->decided(comm, key.operation, key.bucket, static_cast<std::uint32_t>(e.call),
                      learner.candidates()[e.candidate].name, reasons[static_cast<std::size_t>(e.reason)],
                      nanoseconds(e.seconds), nanoseconds(e.native_seconds));
}

Runtime::Runtime(const Settings& settings, const mpi::Api& api, Observer* observer)
    : state_(std::make_unique<State>(settings, api, observer)) {}

Runtime::~Runtime() = default;

int Runtime::alltoall(const Alltoall& call, const Native& native) {
  return state_->run(Operation::alltoall, call, native);
}

int Runtime::alltoallv(const Alltoallv& call, const Native& native) {
  return state_->run(Operation::alltoallv, call, native);
}

int Runtime::alltoallw(const Alltoallw& call, const Native& native) {
  return state_->run(Operation::alltoallw, call, native);
}

bool Runtime::force(std::string_view name) {
  const auto row = std::ranges::find(state_->possible, instruction_for(name));
  if (row == state_->possible.end()) return false;
  state_->forced.store(*row == learn ? nullptr : &*row, std::memory_order_release);
  return true;
}

void Runtime::finalize() {
  state_->finished = true;
  state_->attachments.detach_all();
  state_->choosing.save();
}

}  // namespace wherry::run
