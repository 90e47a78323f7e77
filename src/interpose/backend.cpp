#include "interpose/backend.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "interpose/control.h"
#include "interpose/patient_api.hpp"

namespace wherry::interpose {

constinit thread_local int Inside::depth = 0;
constinit thread_local Listener::Use Listener::current;
constinit thread_local std::string_view Listener::refusal;
Backend* instance = nullptr;
constinit heap::Arena arena;

void SpinLock::yield() { ::sched_yield(); }

namespace {

const Core* core_of_this_process = nullptr;

void* find(const char* name) { return core_of_this_process->find(name); }

template <class Function>
void set(Function& function, const char* name) {
  function = reinterpret_cast<Function>(find(name));
}

Queries load_queries() {
  Queries queries;
#define FUNCTION(name) set(queries.name, "PMPI_" #name);
#include "interpose/queries.inc"
#undef FUNCTION
  return queries;
}

int advance() {
  const Inside inside;
  return backend().runtime().advance();
}

bool is_idle() { return backend().runtime().is_idle(); }

void tell(const std::string& problem) { std::fprintf(stderr, "wherry: %s\n", problem.c_str()); }

int poll(void*) { return backend().progress_engine().poll(); }

/// MPICH's MPIX_ASYNC_NOPROGRESS and MPIX_ASYNC_DONE.
int wait_in_mpich(void*) { return backend().patience.wait_in_library() ? 0 : 1; }
int wait_in_open_mpi() { return backend().patience.wait_in_library(), 0; }

int end_of_self(MPI_Comm, int, void*, void*) {
  backend().shut_down();
  return MPI_SUCCESS;
}

/// Functions whose frequent cheap calls need not all be timed, besides collectives; nullopt: all are. Those of windows
/// wait for epochs, and one stands not for another.
std::optional<profile::Waits> sampled(const FunctionRow& row) {
  enum Kind : std::uint32_t { point_to_point, collective, one_sided, wait_or_test, other };
  const std::string_view name = row.name;
  const auto waits = [](bool at_once) {
    return at_once ? profile::Waits::never : profile::Waits::for_others;
  };
  switch (row.kind) {
    case point_to_point: return waits(name.starts_with("MPI_I") || name.starts_with("MPI_Start"));
    case wait_or_test: return waits(name.starts_with("MPI_Test"));
    case one_sided: return name.starts_with("MPI_Win_") ? std::nullopt : std::optional(profile::Waits::never);
    default: return name == "MPI_Type_free" ? std::optional(profile::Waits::never) : std::nullopt;
  }
}

}  // namespace

Backend::Backend(const Core& core, const Settings& settings)
    : recorder(sites),
      paths(sites),
      sampling(function_table().size()),
      handles(api_, queries_, recorder),
      repeated(recorder, handles.communicators_freed()),
      patience(settings_, api_, queries_, function_table().size(), {wait_in_mpich, wait_in_open_mpi}),
      parallel_packer([this] { return free_cores_.now(); }),
      packer(settings.layout, api_, parallel_packer),
      converter(api_, settings.staging_max, parallel_packer),
      messages(settings.layout, converter),
      pending(settings.layout, converter, api_),
      core_(core),
      settings_(settings),
      free_cores_([](const char* name) -> const char* { return std::getenv(name); }),
      progress_engine_(api_, settings_.progress, {advance, is_idle, poll}) {
  missing_ = mpi::load(api_, find);
  patient_api_ = patient_api(api_);
  queries_ = load_queries();
  const bool active = settings_.enabled && core_.mode == Mode::full && missing_ == nullptr;
  recording_ = active && settings_.features.profile && !settings_.output.empty();
  replacing_ = active && settings_.features.collectives;
  caching_ = active && settings_.cache != "off";
  waiting_ = active && settings_.wait != Waits::spin;
  packing_ = active && settings_.layout != LayoutLever::native;
  if (active) memory.configure(settings_.memory, recording_);
  const std::span<const FunctionRow> functions = function_table();
  for (std::uint32_t i = 0; i < functions.size(); ++i)
    if (const auto waits = sampled(functions[i])) sampling.allow(i, *waits);
  state_ = recording_ ? Recording::not_yet : Recording::off;
  sites = profile::Sites(find("PMPI_Comm_size"));
}

const char* Backend::install() {
  if (missing_ != nullptr) return missing_;
  const auto rows = symbol_table();
  if (core_.symbols != rows.size() + 2) return "libwherry.so and its backend are of different builds";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (core_.next[i] == nullptr) core_.next[i] = rows[i].stand_in;
    core_.slots[i] = is_wrapped(rows[i].wrapped) ? rows[i].wrapper : core_.next[i];
  }
  for (std::size_t i = rows.size(); i < core_.symbols; ++i) core_.slots[i] = core_.next[i];
  test_ = reinterpret_cast<decltype(test_)>(next("MPI_Test"));
  ::pthread_atfork([] { arena.lock(); }, [] { arena.unlock(); }, [] { arena.unlock(); });
  if (recording_ || replacing_ || caching_ || waiting_ || packing_)
    ::pthread_atfork(nullptr, nullptr, stop_in_child);
  // A program may exit without MPI_Finalize: then the library's own exit handlers follow.
  if (wants_thread()) std::atexit([] { backend().progress_engine().stop(); });
  return nullptr;
}

bool Backend::is_wrapped(Wrapped when) const {
  const bool problems = settings_.enabled && !settings_.problems.empty();  // told at MPI_Init
  switch (when) {
    case Wrapped::always: return recording_ || replacing_ || caching_ || waiting_ || packing_ || problems;
    case Wrapped::completing: return recording_ || completing_;
    case Wrapped::waiting: return recording_ || waiting_ || completing_;
    case Wrapped::nonblocking: return recording_ || replaces_nonblocking() || completing_;
    case Wrapped::caching: return recording_ || caching_;
    case Wrapped::packing: return recording_ || packing_;
    case Wrapped::sending: return recording_ || packing_ || waiting_;
    default: return recording_;
  }
}

/// Another thread may be jumping through a slot meanwhile, to the library's function.
void Backend::wrap_completion() {
  if (completing_.load(std::memory_order_relaxed) || completing_.exchange(true)) return;
  const auto rows = symbol_table();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Wrapped when = rows[i].wrapped;
    if (when == Wrapped::completing || when == Wrapped::waiting || when == Wrapped::nonblocking)
      std::atomic_ref(core_.slots[i]).store(rows[i].wrapper);
  }
}

/// A child made by fork shares the mapped record and is no MPI process.
void Backend::stop_in_child() {
  instance->recording_ = false;
  instance->replacing_ = false;
  instance->passing_calls_ = nullptr;
  instance->counted_calls_ = nullptr;
  instance->caching_ = false;
  instance->waiting_ = false;
  instance->packing_ = false;
  instance->state_ = Recording::off;
  instance->repeated.drop();
  instance->memory.stop();
  instance->ended_ = true;
  instance->lock.unlock();  // another thread may have held it when the process was copied
}

run::Runtime& Backend::make_runtime() {
  static std::mutex making;
  const std::lock_guard lock(making);
  run::Runtime* made = runtime_.load(std::memory_order_relaxed);
  if (made == nullptr) {
    const bool heard = recording_ || says(2);
    // MPI_Comm_free is wrapped: what callbacks call inside is inside_mpi().
    made = new run::Runtime(settings_, patient_api_, heard ? &listener : nullptr,
                            {.while_freed = run::CallsWhileFreed::stay_away});
    if (replaces_nonblocking() && progress_engine_.exists())
      made->factory().drive([this] { return progress_engine_.wake(); });
    if (recording_) counted_calls_ = &made->fast_path_calls();
    else if (!heard) passing_calls_ = &made->fast_path_calls();
    runtime_.store(made, std::memory_order_release);
  }
  return *made;
}

window::Windows& Backend::make_windows() {
  window::Windows* made = windows();
  if (made != nullptr) return *made;
  static std::mutex making;
  const std::lock_guard lock(making);
  made = windows();
  if (made == nullptr)
    windows_.store(made = new window::Windows(patient_api_, tell), std::memory_order_release);
  return *made;
}

int Backend::cache_window(MPI_Win win, MPI_Comm comm, MPI_Info info, const window::Segment& own) {
  window::Options options = window::options_of(settings_);
  window::read_info(api_, info, options);
  return make_windows().add(win, comm, own, options);
}

void Backend::note_strange_info(const std::string& value) {
  if (strange_info_told_.test_and_set()) return;
  tell("the info key wherry_cache of MPI_Win_set_info is '" + value.substr(0, 60) +
       "', which is neither 'invalidate' nor the window's mode; what was read is forgotten; give the mode "
       "when the window is made");
}

void* Backend::next(std::string_view name) const {
  const auto rows = symbol_table();
  const auto row = std::ranges::find(rows, name, &SymbolRow::name);
  return core_.next[row - rows.begin()];
}

std::uint32_t Backend::place_of(const void* site) {
  std::uint32_t& known = program_places_[slot_of(site)];
  if (is_program(site)) [[likely]]
    return known;
  const std::uint32_t place = sites.find(site);
  if (sites.place(place).caller == profile::Caller::program) {
    known = place;
    program_sites_[slot_of(site)].store(site, std::memory_order_relaxed);
    return place;
  }
  if (const void* fortran = core_.take_fortran_site()) return sites.find(fortran);
  return sites.place(place).caller == profile::Caller::library ? profile::none : place;
}

void Backend::initialized() {
  world_ = true;
  watch_self();
  if (waiting_) patience.begin(replacing_, find);
  if (recording_) paths.find_interpreter();
  const std::lock_guard guard(lock);
  if (recording_ && state_ == Recording::not_yet) open_record();
  api_.Comm_rank(MPI_COMM_WORLD, &rank_);
  print_problems(rank_);
  if (says(1))
    std::fprintf(stderr, "wherry: ABI %s; profile: %s; collectives: %s; windows: %s\n", core_.abi,
                 recording_ ? settings_.output.c_str() : "off", replacing_ ? "learning" : "native",
                 caching_ ? settings_.cache.c_str() : "native");
}

/// MPI_COMM_SELF is freed first when MPI ends, even if our MPI_Finalize is not the one that is called.
void Backend::watch_self() {
  int keyval = MPI_KEYVAL_INVALID;
  api_.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_self, &keyval, nullptr);
  api_.Comm_set_attr(MPI_COMM_SELF, keyval, this);
}

/// The ranks of mpi://WORLD are those of MPI_COMM_WORLD, which a program with only sessions never has.
void Backend::session_opened(MPI_Session session) {
  using GroupFromSet = int (*)(MPI_Session, const char*, MPI_Group*);
  const auto group_from_set = reinterpret_cast<GroupFromSet>(find("PMPI_Group_from_session_pset"));
  const std::lock_guard guard(lock);
  if (sessions_++ == 0 && !world_ && waiting_) patience.begin(false, find);
  if (!recording_ || state_ != Recording::not_yet || group_from_set == nullptr) return;
  MPI_Group world = MPI_GROUP_NULL;
  if (group_from_set(session, "mpi://WORLD", &world) == MPI_SUCCESS) handles.set_base(world);
  open_record();
}

void Backend::session_closes() {
  if (--sessions_ == 0 && !world_) shut_down();
}

/// Without a session there are no groups to number peers by, so a later session is not recorded.
void Backend::session_closed() {
  if (sessions_ == 0 && !world_) ended();
}

void Backend::print_problems(int rank) {
  if (std::exchange(problems_printed_, true) || rank != 0) return;
  for (const std::string& problem : settings_.problems) std::fprintf(stderr, "wherry: %s\n", problem.c_str());
}

void Backend::shut_down() {
  const Inside inside;
  if (windows() != nullptr && !ended_)
    windows()->each([this](const window::Windows::Known& known) { book(known); });
  {
    const std::lock_guard guard(lock);
    if (state_ == Recording::open) finish_record();
    if (std::exchange(ended_, true)) return;
  }
  patience.end();
  pending.end();
  progress_engine_.stop();
  if (run::Runtime* made = runtime_.load(std::memory_order_acquire)) made->finalize();
}

namespace {

/// What MPI_Pcontrol does with a level that carries Wherry's tag.
int control(int level, const char* text) {
  if (level != WHERRY_FORCE || text == nullptr) return MPI_ERR_ARG;
  if (!backend().replacing()) return MPI_SUCCESS;
  return backend().runtime().force(text) ? MPI_SUCCESS : MPI_ERR_ARG;
}

}  // namespace
}  // namespace wherry::interpose

/// The only name that a backend exports. See BackendEntry.
extern "C" [[gnu::visibility("default")]] const char* wherry_backend(const wherry::interpose::Core* core) {
  using namespace wherry::interpose;
  if (core->version != core_version) return "libwherry.so and its backend are of different versions";
  core_of_this_process = core;
  const auto environment = [](const char* name) -> const char* { return std::getenv(name); };
  instance = new Backend(*core, wherry::read_settings(environment, core->mode == Mode::pass_through));
  if (const char* problem = instance->install()) return problem;
  if (instance->recording() || instance->replacing()) *core->control = reinterpret_cast<void*>(&control);
  return nullptr;
}
