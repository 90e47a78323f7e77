// The collectives of this process that are under way, and whose turn it is.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <vector>

#include "progress/operation.hpp"

namespace wherry::run {

/// Thread-safe. Whoever calls advance() does the work.
class Progress {
 public:
  /// Counts a call as under way that is about to be started, so that those who progress calls do not leave meanwhile.
  class Coming {
   public:
    explicit Coming(Progress& progress) : under_way_(progress.under_way_) { ++under_way_; }
    Coming(const Coming&) = delete;
    Coming& operator=(const Coming&) = delete;
    ~Coming() { --under_way_; }

   private:
    std::atomic<std::size_t>& under_way_;
  };

  /// Begins the call and goes as far as possible. Returns an MPI code.
  int start(std::shared_ptr<NonblockingOperation> call);

  /// Takes up some of those under way, in turn; how many ended. The library is to call this where it makes progress,
  /// for this makes none itself. Does nothing while this thread or another is at it: it may be called from inside
  /// itself.
  int advance();
  bool is_idle() const { return under_way_.load(std::memory_order_acquire) == 0; }

  /// Frees the communicators that only calls which have ended still held. Not from inside the library.
  void sweep();
  /// Forgets what is still under way when MPI ends: its memory is the library's to use.
  void abandon();

 private:
  class Turn;

  bool take_up(std::list<std::shared_ptr<NonblockingOperation>>::iterator call);
  void rest(bool something_ended);

  std::atomic_flag busy_;
  std::atomic<std::size_t> under_way_ = 0;
  // By whoever is busy:
  std::list<std::shared_ptr<NonblockingOperation>> calls_;
  std::vector<std::shared_ptr<Communicator>> left_;  // of calls that have ended
  int polls_ = 0;                                    // since something ended
};

}  // namespace wherry::run
