// Cores that this process may use and nothing of its ranks or threads does: where Wherry may start a thread of its own.
#pragma once

#include <mutex>
#include <string>

#include "base/settings.hpp"
#include "waiting/host.hpp"

namespace wherry::waiting {

/// Of `cores` that the process may use; each rank of the host has its share. ranks_on_host: 0 if unknown; then none is
/// free. running: threads of this process that run, the caller's among them; they all count as busy.
int free_cores(double cores, int ranks_on_host, int running);

/// Threads that run or could run, by a folder like /proc/self/task; 0: it cannot be read.
int running_threads(const std::string& folder);

/// Thread-safe.
class FreeCores {
 public:
  explicit FreeCores(const VariableReader& read) : ranks_(ranks_on_host(read)) {}
  /// At this moment, by the mask of the caller's thread.
  int now();

 private:
  double cores();

  const int ranks_;
  std::mutex mutex_;
  Processors
      allowed_{};  // what cores_ is of: to read the control groups takes longer than to ask for the mask
  double cores_ = 0;
};

}  // namespace wherry::waiting
