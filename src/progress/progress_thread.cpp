#include "progress/progress_thread.hpp"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "comm/polled_wait.hpp"
#include "progress/nonblocking.hpp"

namespace wherry::run {

namespace {

using namespace std::chrono_literals;

// Between looks when nothing has happened for a while: short beside a message between hosts, and most of the processor
// stays the program's.
constexpr auto rest = 20us;
constexpr auto longest_farewell = 1s;

/// Lets the library go on: asks for a request that nobody completes. (MPICH does nothing when asked for a message to
/// oneself.)
class Poke {
 public:
  explicit Poke(const mpi::Api& api) : api_(api) {
    int code = MPI_SUCCESS;
    OperationRequest::begin(api_, &never_, &code);
  }
  Poke(const Poke&) = delete;
  Poke& operator=(const Poke&) = delete;

  bool works() const { return never_ != MPI_REQUEST_NULL; }
  void operator()() {
    int over = 0;
    api_.Test(&never_, &over, MPI_STATUS_IGNORE);
  }
  void end() {
    api_.Grequest_complete(never_);
    api_.Wait(&never_, MPI_STATUS_IGNORE);
  }

 private:
  const mpi::Api& api_;
  MPI_Request never_ = MPI_REQUEST_NULL;
};

}  // namespace

struct ProgressThread::Shared {
  Shared(const mpi::Api& api, ProgressWork w) : work(std::move(w)), poke(api) {}

  void run();
  bool wait_for_work();

  const ProgressWork work;
  Poke poke;
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  bool woken = false, stopping = false, running = false;
};

/// False: it is to end.
bool ProgressThread::Shared::wait_for_work() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return woken || stopping; });
  woken = false;
  return !stopping;
}

void ProgressThread::Shared::run() {
  while (wait_for_work()) {
    for (int polls = 0; !work.is_idle(); ++polls) {
      {
        const std::lock_guard lock(mutex);
        if (stopping) break;
      }
      poke();
      work.advance();
      if (polls >= polls_before_yield) std::this_thread::sleep_for(rest);
    }
  }
  poke.end();
  const std::lock_guard lock(mutex);
  running = false;
  changed.notify_all();
}

ProgressThread::ProgressThread(const mpi::Api& api, ProgressWork work)
    : shared_(std::make_shared<Shared>(api, std::move(work))) {
  if (!shared_->poke.works()) return;
  try {
    shared_->running = true;
    std::thread([shared = shared_] { shared->run(); }).detach();
  } catch (const std::system_error&) {
    shared_->running = false;
  }
}

bool ProgressThread::runs() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->running;
}

void ProgressThread::wake() {
  const std::lock_guard lock(shared_->mutex);
  shared_->woken = true;
  shared_->changed.notify_all();
}

void ProgressThread::stop() {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, longest_farewell, [this] { return !shared_->running; });
}

}  // namespace wherry::run
