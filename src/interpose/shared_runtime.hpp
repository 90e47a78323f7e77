// The runtime that the preload shares with the library (src/host/): made when the first collective asks for it.
#pragma once

#include <atomic>

#include "base/settings.hpp"
#include "host/runtime.hpp"
#include "interpose/hot_state.hpp"
#include "interpose/listener.hpp"
#include "interpose/process_state.hpp"
#include "mpi/api.hpp"
#include "progress/progress_engine.hpp"

namespace wherry::interpose {

class SharedRuntime {
 public:
  /// api: how Wherry itself calls the library, and patient_api the same where it waits patiently. work: what makes
  /// progress.
  SharedRuntime(const Settings& settings, const Activity& activity, const mpi::Api& api,
                const mpi::Api& patient_api, Recording& recording, const run::ProgressEngine::Work& work,
                HotState& hot);

  run::Runtime& get() {
    run::Runtime* const made = runtime_.load(std::memory_order_acquire);
    return made != nullptr ? *made : make();
  }
  run::ProgressEngine& progress_engine() { return progress_engine_; }
  /// Whether a thread is to progress what is started.
  bool wants_thread() const {
    return activity_.replaces_nonblocking() && settings_.progress == ProgressBy::thread;
  }
  /// Ends it before MPI does.
  void end();
  void stop_in_child() { hot_.passing_calls = hot_.counted_calls = nullptr; }

 private:
  run::Runtime& make();

  const Settings& settings_;
  const Activity& activity_;
  const mpi::Api& patient_api_;
  Listener listener_;
  // MPI may begin again: what is made then ends at once, and all stays native.
  std::atomic<bool> ended_ = false;
  std::atomic<run::Runtime*> runtime_ = nullptr;
  run::ProgressEngine progress_engine_;
  HotState& hot_;
};

}  // namespace wherry::interpose
