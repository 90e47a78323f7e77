#include "progress/progress_engine.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace wherry::run {

namespace {

// MPICH's answers, MPIX_ASYNC_NOPROGRESS and MPIX_ASYNC_DONE.
constexpr int go_on = 0, done = 1;

bool has_world(const mpi::Api& api) {
  int initialized = 0;
  api.Initialized(&initialized);
  return initialized != 0;
}

/// Said once for all ranks, where they have numbers.
void complain(const mpi::Api& api, const char* why) {
  int rank = 0;
  if (has_world(api)) api.Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fprintf(stderr, "wherry: WHERRY_PROGRESS=thread, but %s; progress is made by calls of MPI only\n",
                 why);
}

}  // namespace

ProgressEngine::ProgressEngine(const mpi::Api& api, ProgressBy by, const Work& work)
    : api_(api), by_(by), work_(work), process_(::getpid()) {}

/// Open MPI keeps a callback to the end.
bool ProgressEngine::register_once() {
  const std::lock_guard lock(mutex_);
  if (registered_ == Registered::not_yet) {
    const bool taken = api_.Progress_register(work_.advance) == 0;
    registered_ = taken ? Registered::yes : Registered::refused;
  }
  return registered_ == Registered::yes;
}

/// MPICH keeps one as long as there is something to do. What is started while it goes either sees that it has gone, or
/// is seen by it.
int ProgressEngine::poll() {
  work_.advance();
  if (!work_.is_idle()) return go_on;
  polled_ = false;
  return work_.is_idle() || polled_.exchange(true) ? done : go_on;
}

bool ProgressEngine::poll_from_now() {
  constexpr int stream_null = 0x3c000000;  // MPIX_STREAM_NULL
  if (polled_.exchange(true)) return true;
  if (api_.Async_start(work_.poll, nullptr, stream_null) == MPI_SUCCESS) return true;
  polled_ = false;
  return false;
}

bool ProgressEngine::wake_library() {
  if (api_.Progress_register != nullptr) return register_once();
  return api_.Async_start != nullptr && poll_from_now();
}

std::unique_ptr<ProgressThread> ProgressEngine::make_thread() {
  int level = MPI_THREAD_SINGLE;  // also of sessions, which do not tell
  if (has_world(api_)) api_.Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    complain(api_, "MPI provides no MPI_THREAD_MULTIPLE here");
    return nullptr;
  }
  const Work work = work_;
  auto made = std::make_unique<ProgressThread>(api_, ProgressWork{[work] { work.advance(); }, work.is_idle});
  if (made->runs()) return made;
  complain(api_, "the system gives no thread");
  return nullptr;
}

/// Made when it is first needed: only then is the level known.
ProgressThread* ProgressEngine::thread() {
  if (by_ != ProgressBy::thread) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!std::exchange(asked_, true)) thread_ = make_thread();
  return stopped_ ? nullptr : thread_.get();
}

std::string_view ProgressEngine::wake() {
  const bool by_library = wake_library();
  ProgressThread* const by_thread = thread();
  if (by_thread != nullptr) by_thread->wake();
  if (by_library || by_thread != nullptr) return "";
  return has_library() ? "the MPI library refused to let Wherry take part in its progress"
                       : "the MPI library lets nobody take part in its progress";
}

void ProgressEngine::stop() {
  if (::getpid() != process_)
    return;  // the thread, which is not here, may have held a lock when the process was copied
  {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    if (std::exchange(stopped_, true) || thread_ == nullptr) return;
  }
  thread_->stop();
}

}  // namespace wherry::run
