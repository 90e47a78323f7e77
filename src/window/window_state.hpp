// What the roles of a window stand on.
#pragma once

#include <mpi.h>

#include <mutex>
#include <span>

#include "mpi/api.hpp"
#include "window/cache_use.hpp"
#include "window/native.hpp"
#include "window/operations.hpp"
#include "window/options.hpp"
#include "window/overlaps.hpp"
#include "window/sharing.hpp"
#include "window/window_statistics.hpp"

namespace wherry::window {

/// Guards a window's state where several threads may call at once; else it costs next to nothing.
class Lock {
 public:
  explicit Lock(bool threads) : threads_(threads) {}

  class Guard {
   public:
    explicit Guard(Lock& lock) : held_(lock.mutex_, std::defer_lock) {
      if (lock.threads_) held_.lock();
    }

   private:
    std::unique_lock<std::mutex> held_;
  };

 private:
  const bool threads_;
  std::mutex mutex_;
};

/// Each of these knows only those before it.
struct WindowState {
  WindowState(const mpi::Api& api, datatype::Types& types, MPI_Win win,
              std::span<const TargetMemory> memories, int own, const Options& given, bool threads)
      : lock(threads),
        options(given),
        library(api, types, win),
        operations(memories, own),
        overlaps(operations),
        cache(options, threads, operations, sharing) {}

  mutable Lock lock;
  const Options options;
  NativeWindow library;
  PlainType plain;
  Operations operations;
  Sharing sharing;
  Overlaps overlaps;
  CacheUse cache;
};

}  // namespace wherry::window
