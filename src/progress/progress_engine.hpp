// What progresses nonblocking operations: the MPI library itself, wherever it waits, and perhaps a thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/settings.hpp"
#include "mpi/api.hpp"
#include "progress/progress_thread.hpp"

namespace wherry::run {

/// Of a process that has one runtime, which never ends before MPI does.
class ProgressEngine {
 public:
  /// Plain functions, since a library calls them that hands nothing on.
  struct Work {
    int (*advance)();  // how many calls have ended
    bool (*is_idle)();
    int (*poll)(void*);  // calls this object's poll()
  };

  ProgressEngine(const mpi::Api& api, ProgressBy by, const Work& work);
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;

  /// Whether anybody could.
  bool exists() const { return has_library() || by_ == ProgressBy::thread; }
  /// There is something to progress, until work.is_idle(). Returns why nobody will; empty: somebody does.
  /// Thread-safe.
  std::string_view wake();
  /// MPICH's callback.
  int poll();
  /// Ends the thread, before MPI ends or the process exits. A child made by fork has none, and may call this too.
  void stop();

 private:
  bool has_library() const { return api_.Progress_register != nullptr || api_.Async_start != nullptr; }
  bool wake_library();
  bool register_once();
  bool poll_from_now();
  ProgressThread* thread();
  std::unique_ptr<ProgressThread> make_thread();

  const mpi::Api& api_;
  const ProgressBy by_;
  const Work work_;
  const pid_t process_;
  std::atomic<bool> polled_ = false;
  std::mutex mutex_;  // guards what follows
  enum class Registered { not_yet, yes, refused } registered_ = Registered::not_yet;
  bool asked_ = false, stopped_ = false;
  std::unique_ptr<ProgressThread> thread_;  // none: by calls alone
};

}  // namespace wherry::run
