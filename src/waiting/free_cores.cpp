#include "waiting/free_cores.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <system_error>

#include "base/floating_point.hpp"

namespace wherry::waiting {
namespace {

/// By a text like /proc/self/stat: the name of the thread, in parentheses, may hold anything.
bool is_running(const std::string& stat) {
  const auto name = stat.rfind(')');
  return name != std::string::npos && name + 2 < stat.size() && stat[name + 2] == 'R';
}

}  // namespace

int free_cores(double cores, int ranks_on_host, int running) {
  if (ranks_on_host <= 0) return 0;
  return std::max(0, static_cast<int>(std::floor(cores / ranks_on_host)) - std::max(running, 1));
}

int running_threads(const std::string& folder) {
  int running = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator thread(folder, error), end; !error && thread != end;
       thread.increment(error)) {
    std::ifstream stat(thread->path() / "stat");
    std::string line;  // empty where the thread has just ended: iterators would throw then
    std::getline(stat, line);
    running += is_running(line) ? 1 : 0;
  }
  return running;
}

int FreeCores::now() {
  try {
    return computed([this] {
      const double allowed = cores();
      return free_cores(allowed, ranks_, 1) > 0
                 ? free_cores(allowed, ranks_, running_threads("/proc/self/task"))
                 : 0;
    });
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

double FreeCores::cores() {
  const std::lock_guard lock(mutex_);
  if (const Processors allowed = allowed_processors(); allowed != allowed_) {
    cores_ = cores_of(allowed);
    allowed_ = allowed;
  }
  return cores_;
}

}  // namespace wherry::waiting
