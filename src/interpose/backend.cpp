#include "interpose/backend.hpp"

#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "interpose/control.h"
#include "interpose/wait_policy.hpp"

namespace wherry::interpose {

constinit thread_local ThisThread this_thread;
constinit std::atomic<std::uint32_t> ThisThread::count = 0;
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

int poll(void*) { return backend().progress_engine().poll(); }

/// MPICH's MPIX_ASYNC_NOPROGRESS and MPIX_ASYNC_DONE.
int wait_in_mpich(void*) { return backend().wait_policy.wait_in_library() ? 0 : 1; }
int wait_in_open_mpi() { return backend().wait_policy.wait_in_library(), 0; }

int end_of_self(MPI_Comm, int, void*, void*) {
  backend().shut_down();
  return MPI_SUCCESS;
}

}  // namespace

Activity::Activity(const Settings& settings, bool possible)
    : recording(possible && settings.features.profile && !settings.output.empty()),
      replacing(possible && settings.features.collectives),
      caching(possible && settings.cache != "off"),
      waiting(possible && settings.wait != WaitMode::spin),
      packing(possible && settings.layout != LayoutLever::native),
      nonblocking(settings.features.nonblocking),
      has_problems(settings.enabled && !settings.problems.empty()),
      verbose(settings.verbose) {}

Backend::Backend(const Core& core, const Settings& settings)
    : hot(core.next, core.fortran_site_offset),
      core_(core),
      settings_(settings),
      free_cores_(read_variable),
      missing_(mpi::load(api_, find)),
      patient_api_(patient_api(api_)),
      queries_(load_queries()),
      activity_(settings_, settings_.enabled && core_.mode == BackendMode::full && missing_ == nullptr),
      slots_(core_, activity_),
      wait_policy(settings_, api_, queries_, function_table().size(), {wait_in_mpich, wait_in_open_mpi}, hot),
      record({core_, settings_, activity_, api_, queries_, wait_policy, memory, sessions_, hot}),
      windows(settings_, activity_, api_, patient_api_, record),
      parallel_packer([this] { return free_cores_.now(); }),
      packer(settings.layout, api_, parallel_packer),
      converter(api_, settings.staging_max, parallel_packer),
      messages(settings.layout, converter),
      pending(settings.layout, converter, api_, hot.abandoned_messages),
      runtime_(settings_, activity_, api_, patient_api_, record, {advance, is_idle, poll}, hot) {
  if (settings_.enabled && core_.mode == BackendMode::full && missing_ == nullptr)
    memory.configure(settings_.memory, activity_.recording);
}

const char* Backend::install() {
  if (missing_ != nullptr) return missing_;
  if (const char* const problem = slots_.install()) return problem;
  test_ = reinterpret_cast<decltype(test_)>(next("MPI_Test"));
  ::pthread_atfork([] { arena.lock(); }, [] { arena.unlock(); }, [] { arena.unlock(); });
  if (activity_.does_anything()) ::pthread_atfork(nullptr, nullptr, stop_in_child);
  // A program may exit without MPI_Finalize: then the library's own exit handlers follow.
  if (wants_thread()) std::atexit([] { backend().progress_engine().stop(); });
  return nullptr;
}

void Backend::stop_in_child() {
  instance->activity_.stop();
  instance->runtime_.stop_in_child();
  instance->memory.stop();
  instance->ended_ = true;
  instance->record.stop_in_child();
}

void Backend::initialized() {
  world_ = true;
  watch_self();
  if (activity_.waiting) wait_policy.begin(true, find);
  if (activity_.recording) record.paths.find_interpreter();
  const std::lock_guard guard(record.lock);
  if (activity_.recording) record.open_if_due();
  api_.Comm_rank(MPI_COMM_WORLD, &activity_.rank);
  print_problems();
  if (activity_.says(1))
    std::fprintf(stderr, "wherry: ABI %s; profile: %s; collectives: %s; windows: %s\n", core_.abi,
                 activity_.recording ? settings_.output.c_str() : "off",
                 activity_.replacing ? "learning" : "native",
                 activity_.caching ? settings_.cache.c_str() : "native");
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
  const std::lock_guard guard(record.lock);
  record.repeated.end();
  if (sessions_++ == 0 && !world_ && activity_.waiting) wait_policy.begin(false, find);
  if (!activity_.recording || !record.is_due() || group_from_set == nullptr) return;
  MPI_Group world = MPI_GROUP_NULL;
  if (group_from_set(session, "mpi://WORLD", &world) == MPI_SUCCESS) record.handles.set_base(world);
  record.open_if_due();
}

void Backend::session_closes() {
  if (--sessions_ == 0 && !world_) shut_down();
}

/// Without a session there are no groups to number peers by, so a later session is not recorded.
void Backend::session_closed() {
  if (sessions_ == 0 && !world_) ended();
}

void Backend::print_problems() {
  if (std::exchange(problems_printed_, true) || activity_.rank != 0) return;
  for (const std::string& problem : settings_.problems) std::fprintf(stderr, "wherry: %s\n", problem.c_str());
}

void Backend::shut_down() {
  const Inside inside;
  if (windows.get() != nullptr && !ended_)
    windows.get()->each([this](const window::Windows::Known& known) { windows.book(known); });
  bool is_first = false;
  {
    const std::lock_guard guard(record.lock);
    record.finish();
    is_first = !std::exchange(ended_, true);
    world_ = false;  // sessions may go on, without MPI_COMM_WORLD and MPI_COMM_SELF
  }
  wait_policy.end();  // which begins anew if MPI does, after its last session
  pending.end();
  if (is_first) runtime_.end();
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
  instance = new Backend(
      *core, wherry::read_settings(wherry::read_variable, core->mode == BackendMode::pass_through));
  if (const char* problem = instance->install()) return problem;
  if (instance->recording() || instance->replacing()) *core->control = reinterpret_cast<void*>(&control);
  return nullptr;
}
