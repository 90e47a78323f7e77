// What all of a backend shares: a short lock, who is inside MPI, and what Wherry does in this process.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/settings.hpp"

namespace wherry::interpose {

/// A short critical section. Waiting threads yield soon: with more threads than cores the holder may not be running.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; taken_.exchange(true, std::memory_order_acquire); ++spins)
      if (spins > 64) yield();
  }
  bool try_lock() { return !taken_.exchange(true, std::memory_order_acquire); }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  static void yield();
  std::atomic<bool> taken_ = false;
};

/// What is known of each thread.
struct ThisThread {
  static constexpr std::uint32_t unknown = ~0U;
  static constinit std::atomic<std::uint32_t> count;
  int depth = 0;                   // of MPI calls
  std::uint32_t number = unknown;  // in the order of their first calls here
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThisThread this_thread;

/// Keeps the depth of MPI calls on this thread above zero: what the library or a tool calls inside counts as its own.
class Inside {
 public:
  Inside() { ++this_thread.depth; }
  ~Inside() { --this_thread.depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

inline bool inside_mpi() { return this_thread.depth != 0; }

/// Threads by the order of their first call here.
[[gnu::always_inline]] inline std::uint32_t calling_thread() {
  if (this_thread.number == ThisThread::unknown) [[unlikely]]
    this_thread.number = ThisThread::count.fetch_add(1, std::memory_order_relaxed);
  return this_thread.number;
}

/// What Wherry does in this process, and whether it speaks of it.
struct Activity {
  /// possible: by the library and the way in which the process was started.
  Activity(const Settings& settings, bool possible);

  bool replaces_nonblocking() const { return replacing && nonblocking; }
  bool does_anything() const { return recording || replacing || caching || waiting || packing; }
  /// Rank 0, at that level of WHERRY_VERBOSE.
  bool says(int level) const { return verbose >= level && rank == 0; }
  /// In a child made by fork, which shares the mapped record and is no MPI process.
  void stop() { recording = replacing = caching = waiting = packing = false; }

  std::atomic<bool> recording;  // not any more once the file has failed to open, or has ended
  bool replacing;               // collectives
  bool caching;                 // windows may be cached
  bool waiting;                 // blocking calls may poll
  bool packing;                 // derived datatypes may be packed by Wherry
  bool nonblocking;
  bool has_problems;  // to tell at MPI_Init
  int verbose;
  int rank = -1;  // in MPI_COMM_WORLD, once that is known
};

}  // namespace wherry::interpose
