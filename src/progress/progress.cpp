#include "progress/progress.hpp"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "comm/polled_wait.hpp"

namespace wherry::run {

namespace {

// Of many calls under way a few are looked at each time, so that each look at the library's own messages stays short.
constexpr std::size_t calls_at_a_time = 4;

}  // namespace

/// Keeps all others from the calls. Not a mutex: the thread that has it may meet itself inside the library.
class Progress::Turn {
 public:
  explicit Turn(std::atomic_flag& busy) : busy_(busy) {
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  Turn(std::atomic_flag& busy, std::adopt_lock_t) : busy_(busy) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { busy_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& busy_;
};

int Progress::start(std::shared_ptr<NonblockingOperation> call) {
  const Turn turn(busy_);
  if (const int code = call->begin(); code != MPI_SUCCESS) return code;
  calls_.push_front(std::move(call));
  ++under_way_;
  take_up(calls_.begin());
  return MPI_SUCCESS;
}

int Progress::advance() {
  if (is_idle() || busy_.test_and_set(std::memory_order_acquire)) return 0;
  const Turn turn(busy_, std::adopt_lock);
  int ended = 0;
  for (std::size_t left = std::min(calls_.size(), calls_at_a_time); left > 0; --left)
    ended += take_up(calls_.begin());
  rest(ended > 0);
  return ended;
}

/// True: it has ended, and is gone. Else it goes to the end of the line.
bool Progress::take_up(std::list<std::shared_ptr<NonblockingOperation>>::iterator call) {
  if (!(*call)->advance()) {
    calls_.splice(calls_.end(), calls_, call);
    return false;
  }
  // Not the last hold: freeing a communicator is nothing to do from inside the library.
  left_.push_back((*call)->communicator());
  (*call)->complete();
  calls_.erase(call);
  --under_way_;
  return true;
}

/// Libraries that spin while they wait do so here too.
void Progress::rest(bool something_ended) {
  polls_ = something_ended ? 0 : polls_ + 1;
  if (polls_ >= polls_before_yield && !calls_.empty() && calls_.front()->communicator()->channel().yields())
    sched_yield();
}

void Progress::sweep() {
  std::vector<std::shared_ptr<Communicator>> left;  // frees when nobody is busy any more
  const Turn turn(busy_);
  left.swap(left_);
}

void Progress::abandon() {
  const Turn turn(busy_);
  // Never freed.
  if (!calls_.empty())
    static_cast<void>(new std::list<std::shared_ptr<NonblockingOperation>>(std::move(calls_)));
  calls_.clear();
  under_way_ = 0;
}

}  // namespace wherry::run
