// What is compared in random schedules: a cached window and a native one, each with memory for what comes and
// goes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "one_sided.hpp"

namespace test {

// Of each rank, in each rank's memory, and one more that nobody writes but its owner.
inline constexpr int slice_ints = 600;
inline constexpr int arena_ints = 1 << 15;
inline constexpr std::int32_t guard = 0x5A5A5A5A;

enum class Epoch { fence, lock_all, lock, exclusive, pscw, count };

/// Values of the keys of a window's info.
struct Caching {
  const char* mode;
  bool coalesces = false;
  const char* block = "0";
  const char* node = "0";
};

struct Side {
  explicit Side(const OneSided& functions) : mpi(functions) {}

  void make_window(const Caching& caching, int unit, int rank, int size) {
    memory.resize(static_cast<std::size_t>(slice_ints * (size + 1)));
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<std::int32_t>(i * 2654435761u + static_cast<unsigned>(rank) * 40503u);
    arena.assign(arena_ints, guard);
    const char* const keys[][2] = {
        {"wherry_cache", caching.mode},      {"wherry_cache_ceiling", "128K"},  // too little for what is read
        {"wherry_cache_storage", "16K"},     {"wherry_cache_entries", "64"},
        {"wherry_cache_bypass", "0"},        {"wherry_cache_coalesce", caching.coalesces ? "1" : "0"},
        {"wherry_cache_node", caching.node}, {"wherry_cache_block", caching.block}};
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    for (const auto& [key, value] : keys) MPI_Info_set(info, key, value);
    mpi.create(memory.data(), static_cast<MPI_Aint>(4 * memory.size()), unit, info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
  }

  /// group: of all ranks.
  void open(Epoch epoch, int target, MPI_Group group) const {
    switch (epoch) {
      case Epoch::fence: mpi.fence(0, win); break;
      case Epoch::lock_all: mpi.lock_all(0, win); break;
      case Epoch::lock: mpi.lock(MPI_LOCK_SHARED, target, 0, win); break;
      case Epoch::exclusive: mpi.lock(MPI_LOCK_EXCLUSIVE, target, 0, win); break;
      default: mpi.post(group, 0, win); mpi.start(group, 0, win);
    }
  }
  void close(Epoch epoch, int target) const {
    switch (epoch) {
      case Epoch::fence: mpi.fence(MPI_MODE_NOSUCCEED, win); break;
      case Epoch::lock_all: mpi.unlock_all(win); break;
      case Epoch::lock:
      case Epoch::exclusive: mpi.unlock(target, win); break;
      default: mpi.complete(win); mpi.wait(win);
    }
  }
  /// One target's operations, or (negative) those of all.
  void flush(int target, bool local) const {
    if (target >= 0) (local ? mpi.flush_local : mpi.flush)(target, win);
    else (local ? mpi.flush_local_all : mpi.flush_all)(win);
  }

  const OneSided& mpi;
  MPI_Win win = MPI_WIN_NULL;
  std::vector<std::int32_t> memory, arena;
};

}  // namespace test
