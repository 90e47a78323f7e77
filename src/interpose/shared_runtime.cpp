#include "interpose/shared_runtime.hpp"

#include <mutex>

namespace wherry::interpose {

SharedRuntime::SharedRuntime(const Settings& settings, const Activity& activity, const mpi::Api& api,
                             const mpi::Api& patient_api, Recording& recording,
                             const run::ProgressEngine::Work& work, HotState& hot)
    : settings_(settings),
      activity_(activity),
      patient_api_(patient_api),
      listener_(recording, activity),
      progress_engine_(api, settings.progress, work),
      hot_(hot) {}

run::Runtime& SharedRuntime::make() {
  static std::mutex making;
  const std::lock_guard lock(making);
  run::Runtime* made = runtime_.load(std::memory_order_relaxed);
  if (made == nullptr) {
    const bool heard = activity_.recording || activity_.says(2);
    // MPI_Comm_free is wrapped: what callbacks call inside is inside_mpi().
    made = new run::Runtime(settings_, patient_api_, heard ? &listener_ : nullptr,
                            {.while_freed = run::CallsWhileFreed::stay_away});
    if (activity_.replaces_nonblocking() && progress_engine_.exists())
      made->factory().drive([this] { return progress_engine_.wake(); });
    if (activity_.recording) hot_.counted_calls = &made->fast_path_calls();
    else if (!heard) hot_.passing_calls = &made->fast_path_calls();
    if (ended_) made->finalize();
    runtime_.store(made, std::memory_order_release);
  }
  return *made;
}

void SharedRuntime::end() {
  ended_ = true;
  progress_engine_.stop();
  if (run::Runtime* made = runtime_.load(std::memory_order_acquire)) made->finalize();
}

}  // namespace wherry::interpose
