// The windows of a process that are cached, found by their handles.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "mpi/api.hpp"
#include "window/window.hpp"

namespace wherry::window {

/// Thread-safe. A window leaves when MPI frees it, by whatever name: its place here is an attribute.
class Windows {
 public:
  explicit Windows(const mpi::Api& api) : api_(api), types_(api) {}

  /// Begins to cache a window that was made with this memory here. Collective over comm, whose ranks are the window's; those
  /// whose options say off take part and stay away. A window of one rank is not cached.
  int add(MPI_Win win, MPI_Comm comm, const Segment& own, const Options& options);

  /// Calls use(window) for all that are cached.
  template <class Use>
  void each(Use&& use) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_)
      if (entry.window) use(*entry.window);
  }

  /// nullptr: the window is not cached.
  Window* find(MPI_Win win) {
    Entry* const entry = places_[slot_of(win)].load(std::memory_order_acquire);
    if (entry != nullptr && entry->win.load(std::memory_order_acquire) == win) [[likely]]
      return &*entry->window;
    return search(win);
  }

 private:
  /// Never freed, since find() may look at any; used again.
  struct Entry {
    std::atomic<MPI_Win> win = MPI_WIN_NULL;
    std::optional<Window> window;
  };

  static constexpr std::size_t slots = 64;
  /// Handles are int in MPICH and pointers elsewhere.
  template <class Handle>
  static std::size_t slot_of(Handle win) {
    std::uint64_t key = 0;
    if constexpr (std::is_pointer_v<Handle>) key = reinterpret_cast<std::uintptr_t>(win);
    else key = static_cast<std::uint32_t>(win);
    return (key * 0x9e3779b97f4a7c15ULL) >> 58;
  }

  Window* search(MPI_Win win);
  Entry& place_for(MPI_Win win, const std::vector<Segment>& segments, int own, const Options& options,
                   bool threads);
  int keyval();
  static int on_free(MPI_Win win, int keyval, void* value, void* self);
  void remove(Entry& entry);

  const mpi::Api& api_;
  Types types_;
  std::atomic<int> cached_ = 0;                         // windows
  std::array<std::atomic<Entry*>, slots> places_ = {};  // the last that was found of each slot
  std::mutex mutex_;                                    // guards entries_
  std::list<Entry> entries_;
  std::once_flag keyval_made_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace wherry::window
