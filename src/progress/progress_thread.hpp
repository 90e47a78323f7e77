// A thread that progresses collectives while the program computes.
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "mpi/api.hpp"

namespace wherry::run {

/// What the thread does.
struct ProgressWork {
  std::function<void()> advance;  // progresses what has been started
  std::function<bool()> is_idle;  // nothing has been started
};

/// Sleeps while nothing is under way. Needs MPI_THREAD_MULTIPLE. Local.
class ProgressThread {
 public:
  ProgressThread(const mpi::Api& api, ProgressWork work);
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
  ~ProgressThread() { stop(); }

  /// Whether the system let it begin.
  bool runs() const;
  /// There is something to do.
  void wake();
  /// Ends it. Waits for it, but not for ever: it may be inside an MPI library that waits for the caller.
  void stop();

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;  // the thread's too, should nobody wait for it
};

}  // namespace wherry::run
