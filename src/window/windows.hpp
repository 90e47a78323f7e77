// The windows of a process, found by their handles: those that are cached, and why the others are not.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "mpi/api.hpp"
#include "window/node_memory.hpp"
#include "window/window.hpp"

namespace wherry::window {

/// Why a window is not cached.
enum class Uncached { off, shared_memory, dynamic, one_rank, accelerator, info, no_memory };
/// In a few words.
const char* reason_of(Uncached why);

/// The first rank that has a problem, on all ranks; nothing: none has. Collective over comm; MPI's code in `code`.
std::optional<int> first_with(const mpi::Api& api, MPI_Comm comm, bool problem, int& code);

/// Thread-safe. A window leaves when MPI frees it, by whatever name: its place here is an attribute.
class Windows {
 public:
  /// Tells the user what is wrong with a window.
  using Tell = void (*)(const std::string& problem);

  Windows(const mpi::Api& api, Tell tell) : api_(api), tell_(tell), types_(api) {}

  /// A window that is known here.
  class Known {
   public:
    MPI_Win win() const { return win_.load(std::memory_order_acquire); }
    /// nullptr: it is not cached, and never will be.
    Window* window() { return window_ ? &*window_ : nullptr; }
    const Window* window() const { return window_ ? &*window_ : nullptr; }
    /// Nothing: it is cached.
    std::optional<Uncached> why_not() const;
    /// Gets that were native.
    std::uint64_t passed() const;
    void pass() { passed_.fetch_add(1, std::memory_order_relaxed); }

   private:
    friend class Windows;
    std::atomic<MPI_Win> win_ = MPI_WIN_NULL;
    bool used_ = false;
    std::unique_ptr<NodeMemory> node_;  // nullptr: the ranks of the node share nothing
    std::optional<Window> window_;
    Uncached why_ = Uncached::off;
    std::atomic<std::uint64_t> passed_ = 0;  // gets
  };

  /// Begins to cache a window that was made with this memory here. Collective over comm, whose ranks are the window's;
  /// those whose options say off take part and stay away. A window of one rank is not cached. The ranks of a node share
  /// what they read if the options of all ranks say so. Problems and remarks of the options are told by the first rank
  /// that has one.
  int add(MPI_Win win, MPI_Comm comm, const TargetMemory& own, const Options& options);
  /// Knows a window that is not cached. Local.
  int leave(MPI_Win win, Uncached why);

  /// Calls use(known) for all.
  template <class Use>
  void each(Use&& use) {
    const std::lock_guard lock(mutex_);
    for (const Known& known : entries_)
      if (known.used_) use(known);
  }

  /// nullptr: nobody has made it known.
  Known* know(MPI_Win win) {
    Known* const known = places_[slot_of(win)].load(std::memory_order_acquire);
    if (known != nullptr && known->win() == win) [[likely]]
      return known;
    return search(win);
  }
  /// nullptr: the window is not cached.
  Window* find(MPI_Win win) {
    Known* const known = know(win);
    return known == nullptr ? nullptr : known->window();
  }
  /// The same for a get, which is counted where it is not cached.
  Window* find_for_get(MPI_Win win) {
    Known* const known = know(win);
    if (known == nullptr) return nullptr;
    Window* const window = known->window();
    if (window == nullptr) known->pass();
    return window;
  }

 private:
  static constexpr std::size_t slots = 1024;  // a power of two
  static std::size_t slot_of(MPI_Win win) { return hashed(number_of(win)) & (slots - 1); }

  Known* search(MPI_Win win);
  Known& take_place();
  int attach(MPI_Win win, int key, Known& known);
  int keyval();
  static int on_free(MPI_Win win, int keyval, void* value, void* self);
  void remove(Known& known);
  void share(Known& known, MPI_Comm comm, int rank, std::size_t bytes);

  const mpi::Api& api_;
  const Tell tell_;
  datatype::Types types_;
  std::atomic<int> known_ = 0;                          // windows
  std::array<std::atomic<Known*>, slots> places_ = {};  // the last that was found of each slot
  std::mutex mutex_;                                    // guards entries_
  std::list<Known> entries_;  // never freed, since know() may look at any; used again
  std::once_flag keyval_made_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

/// What a window has done, as texts by name, for programs that ask for its info. Calls set(key, value) for:
///   wherry_cache               the mode, or off
///   wherry_cache_why           why it is off
///   wherry_cache_hits, _partial_hits, _misses, _evictions, _bytes_saved, _bytes_fetched, _gets_passed, _seconds_saved
///                              numbers as in wherry_win_statistics; hits are full or pending
///   wherry_cache_node_found, _node_offered, _node_refused
///                              the same, where the ranks of a node share what they read
///   wherry_cache_adjustments   the last changes of the cache's size: "lookups:bytes" each
void report(const Windows::Known& known,
            const std::function<void(const std::string& key, const std::string& value)>& set);

}  // namespace wherry::window
