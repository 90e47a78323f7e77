#include "interpose/recording.hpp"

#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/symbol_slots.hpp"
#include "waiting/host.hpp"

namespace wherry::interpose {

namespace {

// A killed program may lose what was only counted since, and of the matrix of peers.
constexpr std::uint64_t settle_interval_ns = 100'000'000;

std::vector<profile::FunctionRecord> function_records() {
  std::vector<profile::FunctionRecord> records;
  for (const FunctionRow& row : function_table()) {
    profile::FunctionRecord record{};
    std::snprintf(record.name, sizeof record.name, "%s", row.name);
    record.kind = row.kind;
    records.push_back(record);
  }
  return records;
}

/// The rank that the launcher gave this process; empty text if no launcher says.
std::string rank_from_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = read_variable(name); value != nullptr && *value != '\0') return value;
  return {};
}

/// By the launcher; true where it does not say.
bool is_first_on_host() {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* value = read_variable(name); value != nullptr && *value != '\0')
      return std::string_view(value) == "0";
  return true;
}

std::string file_name_of(int rank) {
  if (rank < 0) return "pid-" + std::to_string(::getpid());
  char name[32];
  std::snprintf(name, sizeof name, "rank-%06d", rank);
  return name;
}

std::string first_line_of_version(const mpi::Api& api) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  int length = 0;
  api.Get_library_version(text, &length);
  return std::string(text, std::strcspn(text, "\n"));
}

int to_number(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  return text.empty() || *end != '\0' || value < 0 || value > INT_MAX ? -1 : static_cast<int>(value);
}

/// sampled() of one-sided functions. Locks and flushes of passive targets repeat. Fence, start, post, complete and wait
/// synchronize with other ranks: each is timed.
std::optional<profile::Waits> sampled_one_sided(std::string_view name) {
  for (const char* passive : {"MPI_Win_flush", "MPI_Win_lock", "MPI_Win_unlock"})
    if (name.starts_with(passive)) return profile::Waits::for_others;
  const bool returns_at_once =
      !name.starts_with("MPI_Win_") || name == "MPI_Win_sync" || name == "MPI_Win_test";
  return returns_at_once ? std::optional(profile::Waits::never) : std::nullopt;
}

/// Functions whose frequent cheap calls need not all be timed, besides collectives; nullopt: all are.
std::optional<profile::Waits> sampled(const FunctionRow& row) {
  enum Kind : std::uint32_t { point_to_point, collective, one_sided, wait_or_test, other };
  const std::string_view name = row.name;
  const auto waits = [](bool at_once) {
    return at_once ? profile::Waits::never : profile::Waits::for_others;
  };
  switch (row.kind) {
    case point_to_point: return waits(name.starts_with("MPI_I") || name.starts_with("MPI_Start"));
    case wait_or_test: return waits(name.starts_with("MPI_Test"));
    case one_sided: return sampled_one_sided(name);
    default: return name == "MPI_Type_free" ? std::optional(profile::Waits::never) : std::nullopt;
  }
}

}  // namespace

Recording::Recording(const Sources& sources)
    : sites_(sources.core.find("PMPI_Comm_size")),
      recorder(sites_),
      paths(sites_),
      sampling(function_table().size()),
      handles(sources.api, sources.queries, recorder, sources.hot.freed),
      repeated(recorder, sources.hot),
      sources_(sources),
      state_(sources.activity.recording ? State::not_yet : State::off) {
  const std::span<const FunctionRow> functions = function_table();
  for (std::uint32_t i = 0; i < functions.size(); ++i)
    if (const auto waits = sampled(functions[i])) sampling.allow(i, *waits);
}

void Recording::stop_in_child() {
  state_ = State::off;
  repeated.drop();
  lock.unlock();
}

bool Recording::open() {
  int initialized = 0;
  sources_.api.Initialized(&initialized);
  profile::Identity identity;
  identity.rank = to_number(rank_from_environment());
  if (initialized != 0) {
    sources_.api.Comm_rank(MPI_COMM_WORLD, &identity.rank);
    sources_.api.Comm_size(MPI_COMM_WORLD, &identity.size);
    sources_.api.Query_thread(&identity.thread_level);
    MPI_Group world = MPI_GROUP_NULL;
    sources_.api.Comm_group(MPI_COMM_WORLD, &world);
    handles.set_base(world);
  } else if (handles.base() != MPI_GROUP_NULL) {
    sources_.queries.Group_rank(handles.base(), &identity.rank);
    sources_.queries.Group_size(handles.base(), &identity.size);
  } else if (sources_.sessions == 0) {
    return false;
  }
  identity.start_ns = begin_.ns;
  identity.abi = sources_.core.abi;
  identity.mpi_version = first_line_of_version(sources_.api);
  const std::string problem =
      recorder.open(sources_.settings.output, file_name_of(identity.rank), identity, function_records());
  if (!problem.empty()) {
    if (is_first_on_host()) std::fprintf(stderr, "wherry: %s; nothing is recorded\n", problem.c_str());
    return close(State::off), false;
  }
  state_ = State::open;
  sources_.hot.record = recorder.fixed_header();
  if (profile::has_steady_ticks()) sources_.hot.clock.set(begin_, profile::WatchClock::now());
  if (initialized != 0) {
    handles.comm(MPI_COMM_WORLD);
    handles.comm(MPI_COMM_SELF);
    // A session may have another level than MPI_Init was given.
    if (sources_.sessions == 0) repeated.begin(identity.thread_level == MPI_THREAD_MULTIPLE);
  }
  return true;
}

/// For good: calls then cost what they cost without a record.
void Recording::close(State state) {
  state_ = state;
  sources_.activity.recording = false;
  sources_.memory.unwatch();
}

std::uint32_t Recording::place_of(const void* site) {
  std::uint32_t& known = program_places_[slot_of(site)];
  if (is_program(site)) [[likely]]
    return known;
  const std::uint32_t place = sites_.find(site);
  if (sites_.place(place).caller == profile::Caller::program) {
    known = place;
    program_sites_[slot_of(site)].store(site, std::memory_order_relaxed);
    return place;
  }
  if (sites_.place(place).caller == profile::Caller::fortran) know_bindings(site);
  if (const void* fortran = take_fortran_site(sources_.core.fortran_site_offset)) return sites_.find(fortran);
  return sites_.place(place).caller == profile::Caller::library ? profile::none : place;
}

/// From now on their calls count as the program's at once. Where there are two libraries of them, those of the first do.
void Recording::know_bindings(const void* site) {
  HotState& hot = sources_.hot;
  if (hot.bindings_size.load(std::memory_order_relaxed) != 0) return;
  const profile::AddressRange code = profile::segment_around(site);
  hot.bindings_begin.store(code.begin, std::memory_order_relaxed);
  hot.bindings_size.store(code.end - code.begin, std::memory_order_relaxed);
}

const void* Recording::address_of(std::uint32_t place) {
  recorder.copy_modules();
  const profile::Place& found = sites_.place(place);
  if (found.module >= sites_.modules().size()) return nullptr;
  return reinterpret_cast<const void*>(sites_.modules()[found.module].base + found.offset);
}

void Recording::settle(std::uint64_t now_ns) {
  sources_.memory.count();
  if (sources_.memory.is_due(now_ns)) record_memory(now_ns);
  if (now_ns < next_settle_ns_) return;
  next_settle_ns_ = now_ns + settle_interval_ns;
  settle_counts();
}

void Recording::settle_counts() {
  repeated.settle();
  handles.settle();
}

void Recording::abort() {
  settle_counts();
  is_aborted_ = true;
}

void Recording::book_polled() {
  for (std::uint32_t i = 0; i < function_table().size(); ++i)
    recorder.polled(i, sources_.wait_policy.polled(i));
}

void Recording::book_wait_trials() {
  const waiting::Decision& decision = sources_.wait_policy.decision();
  const waiting::WaitTrialResult result = decision.trial_result();
  if (result.rates.pairs() == 0) return;
  const auto hourly = [](double per_ns) { return static_cast<std::uint64_t>(per_ns * 3.6e12); };
  recorder.wait_trial({.trials = static_cast<std::uint32_t>(decision.trials()),
                       .verdict = !result.polling_won   ? 0U
                                  : *result.polling_won ? 2U
                                                        : 1U,
                       .pairs = static_cast<std::uint64_t>(result.rates.pairs()),
                       .spun_hourly = hourly(result.rates.mean_spun()),
                       .polled_hourly = hourly(result.rates.mean_polled())});
}

void Recording::record_memory(std::uint64_t now_ns) {
  const ProgramMemory& memory = sources_.memory;
  if (sources_.memory.take_sample(now_ns)) recorder.memory(memory.changes(), memory.span(), memory.why_not());
}

void Recording::finish() {
  if (state_ != State::open) return;
  repeated.end();
  handles.settle();
  book_polled();
  recorder.threads(waiting::computing_threads("/proc/self/task"),
                   waiting::count(waiting::allowed_processors()));
  book_wait_trials();
  record_memory(profile::monotonic_ns());
  recorder.finish(is_aborted_ ? profile::State::running : profile::State::finalized);
}

}  // namespace wherry::interpose
