#include "run/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cmath>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "choose/shortlist.hpp"
#include "choose/tuning.hpp"
#include "profile/record.hpp"
#include "run/machine.hpp"
#include "run/perform.hpp"

namespace wherry::run {

namespace {

constexpr std::string_view native_name = "native";
constexpr std::string_view automatic = "auto";

/// Calls on a communicator before Wherry joins it: one that is used once is not worth a communicator of its own.
constexpr unsigned calls_before_joining = 1;

/// Attribute of a communicator of the program.
struct Attached {
  MPI_Comm comm = MPI_COMM_NULL;
  unsigned calls = 0;
  std::string_view refusal;  // why Wherry stays away; empty: it does not
  std::unique_ptr<Communicator> communicator;
};

std::uint64_t nanoseconds(std::chrono::steady_clock::duration d) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
}

std::uint64_t nanoseconds(double seconds) { return std::isfinite(seconds) ? static_cast<std::uint64_t>(seconds * 1e9) : 0; }

}  // namespace

std::string_view name_of(Operation operation) {
  constexpr std::string_view names[] = {"MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"};
  return names[static_cast<std::size_t>(operation)];
}

struct Runtime::State {
  State(const Settings& s, const mpi::Api& a, Observer* o)
      : settings(s), api(a), observer(o), staging(s.staging_max), machine(machine_name()), library(library_name(a)) {}

  template <class Call>
  int run(Operation operation, const Call& call, const Native& native);
  template <class Call>
  Communicator* joined(Operation operation, const Call& call);

  int own_keyval();
  Attached* attached(MPI_Comm comm);
  std::string_view refusal(MPI_Comm comm);
  std::string_view instruction(Operation operation) const;
  std::uint32_t bucket(Communicator& c, Operation operation) const;
  Cell& cell(Communicator& c, const CellKey& key, long long block_bytes);
  const std::vector<choose::Offer>& offers(const Communicator& c);
  std::vector<choose::Candidate> candidates(Communicator& c, const CellKey& key, long long block_bytes);
  bool fits(Communicator& c, const CellKey& key, const choose::Offer& offer, long long block_bytes) const;
  choose::Learner learner(Communicator& c, const CellKey& key, long long block_bytes);
  choose::TuningKey tuning_key(Communicator& c, const CellKey& key) const;
  const plan::Strategy* forced(Communicator& c, const CellKey& key, long long block_bytes, std::string_view name);
  int perform(Communicator& c, const CellKey& key, const plan::Strategy& strategy);
  void report(MPI_Comm comm, const CellKey& key, choose::Learner& learner) const;
  void miss(Operation operation, std::string_view reason) const {
    if (observer != nullptr) observer->missed(operation, reason);
  }
  void load_tuning();
  void note_tuning(Communicator& c);
  void detach(Attached* attached);

  const Settings& settings;
  const mpi::Api& api;
  Observer* observer;
  Staging staging;
  const std::string machine, library;
  std::string force = std::string(automatic);
  bool finished = false;
  std::atomic<int> keyval = MPI_KEYVAL_INVALID;

  std::mutex mutex;  // guards what follows, and the making of keyval
  std::list<Attached> all;
  std::map<std::pair<int, unsigned long long>, std::vector<choose::Offer>> surveys;  // by size and placement
  bool tuning_loaded = false;
  choose::TuningTable tuning;   // what the file said
  choose::TuningTable learned;  // what this process has to add
};

namespace {

int never_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

}  // namespace

// ---- joining communicators ----

void Runtime::State::detach(Attached* attached) {
  if (attached->communicator) note_tuning(*attached->communicator);
  // Outside the lock: freeing talks to the library.
  attached->communicator.reset();
  const std::lock_guard lock(mutex);
  all.remove_if([attached](const Attached& a) { return &a == attached; });
}

int Runtime::State::own_keyval() {
  if (const int made = keyval.load(std::memory_order_acquire); made != MPI_KEYVAL_INVALID) return made;
  const std::lock_guard lock(mutex);
  const auto forget = [](MPI_Comm, int, void* value, void* state) -> int {
    static_cast<State*>(state)->detach(static_cast<Attached*>(value));
    return MPI_SUCCESS;
  };
  int made = keyval.load();
  if (made == MPI_KEYVAL_INVALID && api.Comm_create_keyval(never_copy, forget, &made, this) == MPI_SUCCESS)
    keyval.store(made, std::memory_order_release);
  return made;
}

Attached* Runtime::State::attached(MPI_Comm comm) {
  const int keyval = own_keyval();
  if (keyval == MPI_KEYVAL_INVALID) return nullptr;
  void* value = nullptr;
  int found = 0;
  if (api.Comm_get_attr(comm, keyval, &value, &found) != MPI_SUCCESS) return nullptr;
  if (found) return static_cast<Attached*>(value);
  Attached* fresh = nullptr;
  {
    const std::lock_guard lock(mutex);
    fresh = &all.emplace_back();
  }
  fresh->comm = comm;
  fresh->refusal = refusal(comm);
  if (api.Comm_set_attr(comm, keyval, fresh) == MPI_SUCCESS) return fresh;
  detach(fresh);
  return nullptr;
}

/// What is known to be unsupported before any message.
std::string_view Runtime::State::refusal(MPI_Comm comm) {
  int inter = 0, size = 0;
  if (api.Comm_test_inter(comm, &inter) != MPI_SUCCESS) return "invalid communicator";
  if (inter) return "intercommunicator";
  api.Comm_size(comm, &size);
  return size == 1 ? "communicator of one rank" : "";
}

template <class Call>
Communicator* Runtime::State::joined(Operation operation, const Call& call) {
  if (finished || !settings.enabled || !settings.features.collectives || call.comm == MPI_COMM_NULL) return nullptr;
  Attached* const a = attached(call.comm);
  if (a == nullptr) return nullptr;
  if (!a->refusal.empty()) {
    miss(operation, a->refusal);
    return nullptr;
  }
  if (a->calls++ < calls_before_joining) return nullptr;
  if (!a->communicator) {
    a->communicator = std::make_unique<Communicator>(call.comm, settings, api);
    if (!a->communicator->terms().usable) a->refusal = "ranks have different settings";
  }
  return a->refusal.empty() ? a->communicator.get() : nullptr;
}

// ---- choosing ----

std::string_view Runtime::State::instruction(Operation operation) const {
  if (force != automatic) return force;
  const std::string* const own[] = {&settings.alltoall, &settings.alltoallv, &settings.alltoallw};
  return *own[static_cast<std::size_t>(operation)];
}

/// The agreed size class of this call.
std::uint32_t Runtime::State::bucket(Communicator& c, Operation operation) const {
  if (operation == Operation::alltoall)
    return profile::bucket_of(static_cast<std::uint64_t>(c.blocks.receive.front().bytes));
  SizeWatch& watch = c.watches[{operation, c.blocks.in_place}];
  const double average = static_cast<double>(c.blocks.bytes_sent()) / c.size();
  if (!watch.started()) watch.start(average, c.channel());
  const std::uint32_t agreed = watch.bucket(c.channel());
  watch.saw(average, c.channel());
  return agreed;
}

/// What applies to these ranks; communicators of one shape share the counting.
const std::vector<choose::Offer>& Runtime::State::offers(const Communicator& c) {
  const std::lock_guard lock(mutex);
  std::vector<choose::Offer>& known = surveys[{c.size(), c.shape().signature()}];
  if (known.empty()) known = choose::survey(c.shape());
  return known;  // entries of a map stay where they are
}

/// Whether every rank can run the strategy within its terms.
bool Runtime::State::fits(Communicator& c, const CellKey& key, const choose::Offer& offer, long long block_bytes) const {
  const plan::Strategy& s = *offer.strategy;
  const bool irregular = key.operation != Operation::alltoall;
  if (irregular && key.in_place) return s.name == in_place_strategy;
  const std::size_t most = std::min<std::size_t>(c.terms().staging_max, INT_MAX);
  if (s.hops == plan::Hops::single)
    return !key.in_place || static_cast<std::size_t>(block_bytes) <= most / (3 * static_cast<std::size_t>(c.size()));
  if (!c.terms().host_memory) return false;
  const int slots = offer.traffic.most_slots;
  if (irregular) return combined_staging(slots, c.size(), key.bucket) <= most;
  const std::size_t copy = key.in_place ? static_cast<std::size_t>(c.size()) : 0;
  const std::size_t blocks = static_cast<std::size_t>(slots) + 2 * static_cast<std::size_t>(c.size()) + copy;
  return static_cast<std::size_t>(block_bytes) <= most / blocks;
}

std::vector<choose::Candidate> Runtime::State::candidates(Communicator& c, const CellKey& key, long long block_bytes) {
  const auto allowed = [&](const choose::Offer& offer) { return fits(c, key, offer, block_bytes); };
  return choose::shortlist(offers(c), block_bytes, plan::Machine{}, allowed);
}

choose::TuningKey Runtime::State::tuning_key(Communicator& c, const CellKey& key) const {
  return {.machine = machine,
          .mpi = library,
          .ranks = c.size(),
          .placement = c.shape().signature(),
          .operation = std::string(name_of(key.operation)) + (key.in_place ? ":in_place" : ""),
          .bucket = key.bucket};
}

void Runtime::State::load_tuning() {
  const std::lock_guard lock(mutex);
  if (std::exchange(tuning_loaded, true) || settings.tuning_file.empty()) return;
  tuning = choose::load_or_complain(settings.tuning_file);
}

/// What rank 0 knows from earlier runs becomes what all ranks know. Collective.
choose::Learner Runtime::State::learner(Communicator& c, const CellKey& key, long long block_bytes) {
  std::vector<choose::Candidate> list = candidates(c, key, block_bytes);
  double known[3] = {-1, 0, 0};  // index among the candidates, seconds, native seconds
  if (c.terms().tuning && c.rank() == 0) {
    load_tuning();
    const std::lock_guard lock(mutex);
    if (const auto row = tuning.find(tuning_key(c, key))) {
      const auto at = std::find_if(list.begin(), list.end(), [&](const auto& l) { return l.name == row->strategy; });
      if (at != list.end()) known[0] = static_cast<double>(at - list.begin());
      known[1] = row->seconds;
      known[2] = row->native_seconds;
    }
  }
  if (c.terms().tuning) api.Bcast(known, 3, MPI_DOUBLE, 0, c.channel().comm());
  const choose::LearnerOptions options = c.terms().learning ? choose::LearnerOptions{} : choose::no_trials;
  if (known[0] >= 0)
    return choose::Learner::settled_on(std::move(list), static_cast<std::size_t>(known[0]), known[1], known[2], options);
  return c.terms().learning ? choose::Learner(std::move(list), options) : choose::Learner::by_model(std::move(list));
}

Cell& Runtime::State::cell(Communicator& c, const CellKey& key, long long block_bytes) {
  std::unique_ptr<Cell>& entry = c.cells[key];
  if (!entry) entry = std::make_unique<Cell>(learner(c, key, block_bytes), c.channel());
  return *entry;
}

/// The strategy that was asked for; native where it does not apply.
const plan::Strategy* Runtime::State::forced(Communicator& c, const CellKey& key, long long block_bytes, std::string_view name) {
  if (name == native_name) return nullptr;
  const auto named = [name](const choose::Offer& offer) { return offer.strategy->name == name; };
  const std::vector<choose::Offer>& known = offers(c);
  const auto offer = std::ranges::find_if(known, named);
  if (offer == known.end())
    miss(key.operation, "the forced strategy does not exist or does not apply to these ranks");
  else if (!fits(c, key, *offer, block_bytes))
    miss(key.operation, "the forced strategy needs more staging than allowed, or host memory");
  else
    return offer->strategy;
  return nullptr;
}

// ---- running ----

int Runtime::State::perform(Communicator& c, const CellKey& key, const plan::Strategy& strategy) {
  return key.operation == Operation::alltoall ? perform_uniform(c, strategy, staging)
                                              : perform_irregular(c, strategy, key.bucket, staging);
}

template <class Call>
int Runtime::State::run(Operation operation, const Call& call, const Native& native) {
  Communicator* const c = joined(operation, call);
  if (c == nullptr) return native();
  read_blocks(api, call, c->size(), c->blocks);
  if (!c->blocks.valid) return native();  // wrong arguments: the library says what is wrong with them
  const long long sent = c->blocks.bytes_sent();
  if (operation == Operation::alltoall && c->blocks.receive.front().bytes == 0) return native();

  const CellKey key = {operation, c->blocks.in_place, bucket(*c, operation)};
  const long long block_bytes = operation == Operation::alltoall ? c->blocks.receive.front().bytes
                                                                 : (key.bucket == 0 ? 1 : 1LL << (key.bucket - 1));
  const std::string_view asked = instruction(operation);
  Cell* const learning = asked == automatic ? &cell(*c, key, block_bytes) : nullptr;
  const plan::Strategy* const strategy = learning != nullptr ? learning->begin() : forced(*c, key, block_bytes, asked);

  const auto start = std::chrono::steady_clock::now();
  const int code = strategy != nullptr ? perform(*c, key, *strategy) : native();
  const auto took = std::chrono::steady_clock::now() - start;

  if (learning != nullptr) {
    learning->end(std::chrono::duration<double>(took).count());
    report(call.comm, key, learning->learner());
  }
  if (observer != nullptr)
    observer->used(call.comm, operation, key.bucket, strategy != nullptr ? strategy->name : native_name,
                   static_cast<std::uint64_t>(sent), nanoseconds(took));
  // The library has called the error handler for its own failures.
  if (code != MPI_SUCCESS && strategy != nullptr) api.Comm_call_errhandler(call.comm, code);
  return code;
}

void Runtime::State::report(MPI_Comm comm, const CellKey& key, choose::Learner& learner) const {
  if (observer == nullptr) return;
  constexpr profile::Reason reasons[] = {profile::Reason::trial, profile::Reason::kept, profile::Reason::dropped,
                                         profile::Reason::loaded};
  for (const choose::Event& e : learner.drain_events())
    observer->decided(comm, key.operation, key.bucket, static_cast<std::uint32_t>(e.call),
                      learner.candidates()[e.candidate].name, reasons[static_cast<std::size_t>(e.reason)],
                      nanoseconds(e.seconds), nanoseconds(e.native_seconds));
}

/// Keeps what the ranks of a communicator learned; its rank 0 does so for all.
void Runtime::State::note_tuning(Communicator& c) {
  if (c.rank() != 0 || !c.terms().tuning) return;
  const std::lock_guard lock(mutex);
  for (const auto& [key, cell] : c.cells) {
    const choose::Learner& l = cell->learner();
    if (!l.settled() || l.trials(l.winner()) == 0) continue;
    learned.put({.key = tuning_key(c, key),
                 .strategy = l.candidates()[l.winner()].name,
                 .seconds = l.seconds(l.winner()),
                 .native_seconds = l.seconds(0),
                 .trials = static_cast<unsigned>(l.trials(l.winner()))});
  }
}

// ---- the public face ----

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

bool Runtime::force(std::string_view strategy) {
  if (strategy != automatic && strategy != native_name && plan::find_strategy(strategy) == nullptr) return false;
  state_->force = strategy;
  return true;
}

void Runtime::finalize() {
  state_->finished = true;
  std::vector<MPI_Comm> comms;
  for (const Attached& attached : state_->all) comms.push_back(attached.comm);
  for (const MPI_Comm comm : comms) state_->api.Comm_delete_attr(comm, state_->keyval);  // calls detach()
  if (int keyval = state_->keyval.exchange(MPI_KEYVAL_INVALID); keyval != MPI_KEYVAL_INVALID)
    state_->api.Comm_free_keyval(&keyval);
  if (!state_->learned.rows().empty() && !state_->settings.tuning_file.empty())
    choose::save_or_complain(state_->settings.tuning_file, state_->learned);
}

}  // namespace wherry::run
