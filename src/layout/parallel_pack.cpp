#include "layout/parallel_pack.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

namespace wherry::layout {
namespace {

// `wherry bench patterns --threads 2`: two threads on two cores gain from here on, whatever the pattern, and lose
// below: to start one takes some 50 us, and the caches hold the data.
constexpr Offset least_per_thread = 8 << 20;
// A few cores use all that the memory gives.
constexpr int most_threads = 4;
// So that a thread that starts late, or loses its core, is not waited for long.
constexpr int pieces_per_thread = 8;

/// What the threads of one call share. Who comes late finds no piece left and touches nothing of the caller's.
struct Work {
  Work(Pieces of, std::function<void(DataRange)> by)
      : pieces(of), copy(std::move(by)), left(pieces.count()) {}

  const Pieces pieces;
  const std::function<void(DataRange)> copy;
  std::atomic<int> next = 0, left;

  void take_part() {
    for (int i = next++; i < pieces.count(); i = next++) {
      copy(pieces[i]);
      if (--left == 0) left.notify_one();
    }
  }
  void wait() const {
    for (int now = left; now != 0; now = left) left.wait(now);
  }
};

using SharedWork = std::shared_ptr<Work>;

void* help(void* given) {
  const std::unique_ptr<SharedWork> work(static_cast<SharedWork*>(given));
  (*work)->take_part();
  return nullptr;
}

/// While it lives, threads that start get no signals but those of their own faults, which the program may handle.
class FaultsOnly {
 public:
  FaultsOnly() {
    sigset_t all;
    ::sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  FaultsOnly(const FaultsOnly&) = delete;
  FaultsOnly& operator=(const FaultsOnly&) = delete;
  ~FaultsOnly() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Detached: a helper that gets no core in time is not waited for.
void start_helpers(const SharedWork& work, int helpers) {
  constexpr std::size_t stack_bytes = 512 << 10;
  pthread_attr_t detached;
  if (::pthread_attr_init(&detached) != 0) return;
  ::pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&detached, stack_bytes);
  const FaultsOnly masked;
  for (int i = 0; i < helpers; ++i) {
    auto given = std::make_unique<SharedWork>(work);
    pthread_t thread;
    if (::pthread_create(&thread, &detached, help, given.get()) != 0) break;
    (void)given.release();  // the thread's
  }
  ::pthread_attr_destroy(&detached);
}

void share(DataRange range, int threads, std::function<void(DataRange)> copy) {
  try {
    const auto work = std::make_shared<Work>(Pieces(range, threads * pieces_per_thread), std::move(copy));
    try {
      start_helpers(work, threads - 1);
    } catch (const std::bad_alloc&) {  // those that have started do their part
    }
    work->take_part();
    work->wait();
  } catch (const std::bad_alloc&) {
    copy(range);
  }
}

}  // namespace

int threads_for(Offset bytes, int free_cores) {
  const Offset worth = std::min<Offset>(bytes / least_per_thread, most_threads);
  return static_cast<int>(std::max<Offset>(1, std::min<Offset>(worth, free_cores + 1)));
}

Pieces::Pieces(DataRange range, int wanted) : range_(range) {
  constexpr Offset line = 64;
  const Offset bytes = range.end - range.begin;
  piece_ = std::max<Offset>((bytes + wanted * line - 1) / (wanted * line) * line, line);
  count_ = static_cast<int>((bytes + piece_ - 1) / piece_);
}

DataRange Pieces::operator[](int i) const {
  return {range_.begin + i * piece_, std::min(range_.begin + (i + 1) * piece_, range_.end)};
}

void pack(const PackPlan& plan, const std::byte* memory, std::byte* packed, DataRange range, int threads) {
  if (threads <= 1 || range.end <= range.begin) return pack(plan, memory, packed, range);
  share(range, threads, [&plan, memory, packed, begin = range.begin](DataRange piece) {
    pack(plan, memory, packed + (piece.begin - begin), piece);
  });
}

void unpack(const PackPlan& plan, std::byte* memory, const std::byte* packed, DataRange range, int threads) {
  if (threads <= 1 || range.end <= range.begin) return unpack(plan, memory, packed, range);
  share(range, threads, [&plan, memory, packed, begin = range.begin](DataRange piece) {
    unpack(plan, memory, packed + (piece.begin - begin), piece);
  });
}

int ParallelPacker::threads(DataRange range) const {
  const Offset bytes = range.end - range.begin;
  return threads_for(bytes, most_threads) > 1 ? threads_for(bytes, free_cores_()) : 1;
}

}  // namespace wherry::layout
