// Messages that matched probes have found and no receive has taken yet: which communicator they are of is not said
// again.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace wherry::p2p {

/// Those to be received natively. Thread-safe.
class FoundMessages {
 public:
  void put(MPI_Message message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    count_ = messages_.size();
  }
  /// Whether it is one of them; then no longer.
  bool take(MPI_Message message) {
    if (count_.load(std::memory_order_acquire) == 0) return false;
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(messages_, message);
    if (at == messages_.end()) return false;
    *at = messages_.back();
    messages_.pop_back();
    count_ = messages_.size();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<MPI_Message> messages_;  // few: a program receives what it has found
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace wherry::p2p
