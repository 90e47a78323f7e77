// Wherry for C++20: cached windows. What other ranks have is read once and remembered.
//
//   wherry::Window<double> window = wherry::Window<double>::create(comm, mine, {.mode = wherry::CacheMode::always});
//   window.lock_all();
//   window.get(values, rank, displacement);  // values: a span to fill
//   window.flush(rank);                      // now they are there; next time without a message
//   window.unlock_all();
//
// What window.h says holds here too: modes, epochs, own writes, threads. In addition:
// - T is trivially copyable. Displacements and sizes are in values of T, not in bytes.
// - usage_error: the arguments cannot be. Local, before any message. mpi_error: MPI returned an error; the window's
//   error handler returns. That of the communicator decides about errors while a window is made.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "wherry/ranges.hpp"
#include "wherry/window.h"

namespace wherry {

/// How long what was read stays valid.
enum class CacheMode {
  transparent,  // until anything completes or synchronizes: right for every program
  always,       // for the life of the window, which nobody writes
  user,         // until invalidate()
  off,          // not at all: a window of the library
};

struct WindowOptions {
  CacheMode mode = CacheMode::transparent;
  /// The cache never takes more; 64 KiB to 1 TiB. Raise it if statistics() show capacity misses.
  std::size_t ceiling_bytes = std::size_t{64} << 20;
  /// Its size at first. What is right is found while the program runs, if it is adaptive.
  std::size_t storage_bytes = std::size_t{1} << 20;
  std::size_t index_entries = 4096;
  bool adaptive = true;
  /// Whether gets are native for a while where they turn out to be cheaper than the cache, as in shared memory.
  bool bypass = true;
  /// Whether gets are held back until a flush, unlock or fence, and what is adjacent is asked for at once: for many
  /// small gets back to back before one flush. Not where the program computes between its gets and the flush, while
  /// they could already be coming.
  bool coalesce = false;
  /// Except in the mode transparent: what is missing is fetched with the rest of the aligned block around it, of so
  /// many bytes (a power of two from 64 to 1 MiB), because the program will read that, too. In the mode user_defined
  /// others then must not have written to any of it since the last invalidate(). 0: what is asked for, and no more.
  std::size_t block_bytes = 0;
  /// Memory that the ranks of a node share, so that what one of them has read the others need not fetch; 64 KiB to 1
  /// TiB, or 0: none. In the modes always and user, where all ranks then invalidate alike.
  std::size_t node_bytes = 0;
};

namespace detail {

/// Options as MPI knows them.
class WindowInfo {
 public:
  explicit WindowInfo(const WindowOptions& options) {
    constexpr std::size_t least = std::size_t{64} << 10, most = std::size_t{1024} << 30;
    if (options.mode != CacheMode::off && (options.ceiling_bytes < least || options.ceiling_bytes > most))
      throw usage_error("ceiling_bytes is " + std::to_string(options.ceiling_bytes) +
                        ", too little for a few entries or more than there can be; give 65536 to " +
                        std::to_string(most) + ", or CacheMode::off");
    if (options.block_bytes != 0 && (!std::has_single_bit(options.block_bytes) || options.block_bytes < 64 ||
                                     options.block_bytes > std::size_t{1} << 20))
      throw usage_error("block_bytes is " + std::to_string(options.block_bytes) +
                        ", which is no power of two from 64 to 1048576; give one, or 0 for no blocks");
    if (options.node_bytes != 0 && (options.node_bytes < least || options.node_bytes > most))
      throw usage_error("node_bytes is " + std::to_string(options.node_bytes) +
                        ", too little for a few entries or more than there can be; give 65536 to " +
                        std::to_string(most) + ", or 0 for none");
    check("MPI_Info_create", MPI_Info_create(&info_));
    constexpr const char* modes[] = {"transparent", "always", "user", "off"};
    set("wherry_cache", modes[static_cast<int>(options.mode)]);
    set("wherry_cache_ceiling", std::to_string(options.ceiling_bytes));
    set("wherry_cache_storage", std::to_string(options.storage_bytes));
    set("wherry_cache_entries", std::to_string(options.index_entries));
    set("wherry_cache_adaptive", options.adaptive ? "1" : "0");
    set("wherry_cache_bypass", options.bypass ? "1" : "0");
    set("wherry_cache_coalesce", options.coalesce ? "1" : "0");
    set("wherry_cache_block", std::to_string(options.block_bytes));
    set("wherry_cache_node", std::to_string(options.node_bytes));
  }
  WindowInfo(const WindowInfo&) = delete;
  WindowInfo& operator=(const WindowInfo&) = delete;
  ~WindowInfo() { MPI_Info_free(&info_); }

  MPI_Info get() const { return info_; }

 private:
  void set(const char* key, const std::string& value) { MPI_Info_set(info_, key, value.c_str()); }

  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace detail

/// Memory of all ranks of a communicator, which each may read and write without the others' help. Owns the MPI window.
///
/// Its end is collective over the communicator, and before MPI_Finalize; no epoch may be open then. One that was moved
/// from may be assigned to or destroyed, no more.
template <class T>
class Window {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Of memory that is the caller's, as long as the window lives. Collective over comm; mine: any size on each rank.
  static Window create(MPI_Comm comm, std::span<T> mine, const WindowOptions& options = {}) {
    const detail::WindowInfo info(options);
    Window made(mine);
    detail::check("wherry_win_create", wherry_win_create(mine.data(), bytes(mine.size()), sizeof(T),
                                                         info.get(), comm, &made.win_));
    made.return_errors();
    return made;
  }

  /// Of memory that is the window's. Collective over comm; count: values of this rank.
  static Window allocate(MPI_Comm comm, std::size_t count, const WindowOptions& options = {}) {
    static_assert(alignof(T) <= alignof(std::max_align_t),
                  "wherry: MPI aligns memory for its own types only; hold it yourself, and use create()");
    const detail::WindowInfo info(options);
    T* memory = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    detail::check("wherry_win_allocate",
                  wherry_win_allocate(bytes(count), sizeof(T), info.get(), comm, &memory, &win));
    Window made({memory, count});
    made.win_ = win;
    made.return_errors();
    return made;
  }

  Window(Window&& other) noexcept
      : local_(std::exchange(other.local_, {})), win_(std::exchange(other.win_, MPI_WIN_NULL)) {}
  Window& operator=(Window&& other) noexcept {
    std::swap(local_, other.local_);
    std::swap(win_, other.win_);
    return *this;
  }
  ~Window() {
    if (win_ != MPI_WIN_NULL) wherry_win_free(&win_);
  }

  /// This rank's memory.
  std::span<T> local() const { return local_; }
  MPI_Win handle() const { return win_; }

  // Epochs, as MPI has them. lock() is shared unless it says otherwise.
  void lock_all() { detail::check("wherry_win_lock_all", wherry_win_lock_all(0, win_)); }
  void unlock_all() { detail::check("wherry_win_unlock_all", wherry_win_unlock_all(win_)); }
  void lock(int rank) { detail::check("wherry_win_lock", wherry_win_lock(MPI_LOCK_SHARED, rank, 0, win_)); }
  void lock_exclusively(int rank) {
    detail::check("wherry_win_lock", wherry_win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win_));
  }
  void unlock(int rank) { detail::check("wherry_win_unlock", wherry_win_unlock(rank, win_)); }
  void fence(int assertion = 0) { detail::check("wherry_win_fence", wherry_win_fence(assertion, win_)); }
  void flush(int rank) { detail::check("wherry_win_flush", wherry_win_flush(rank, win_)); }
  void flush_all() { detail::check("wherry_win_flush_all", wherry_win_flush_all(win_)); }
  void sync() { detail::check("wherry_win_sync", wherry_win_sync(win_)); }

  /// Reads values from displacement on; they are there when the next flush, unlock or fence has returned, and until
  /// then `into` must stay. score: how much more than others they are worth keeping when memory runs short; positive.
  void get(std::span<T> into, int rank, long long displacement, double score = 1) {
    const int count = detail::mpi_count<T>(into.size());
    detail::check("wherry_win_get_scored",
                  wherry_win_get_scored(into.data(), count, type(), rank, static_cast<MPI_Aint>(displacement),
                                        count, type(), score, win_));
  }
  /// Writes values; `from` must stay until the next flush, unlock or fence.
  void put(std::span<const T> from, int rank, long long displacement) {
    const int count = detail::mpi_count<T>(from.size());
    detail::check("wherry_win_put", wherry_win_put(from.data(), count, type(), rank,
                                                   static_cast<MPI_Aint>(displacement), count, type(), win_));
  }
  /// Combines values with those that are there, each atomically, by one of MPI's operations. T has a type of MPI's own.
  void accumulate(std::span<const T> from, int rank, long long displacement, MPI_Op op = MPI_SUM)
    requires detail::Named<T>
  {
    const int count = detail::mpi_count<T>(from.size());
    detail::check("wherry_win_accumulate",
                  wherry_win_accumulate(from.data(), count, type(), rank, static_cast<MPI_Aint>(displacement),
                                        count, type(), op, win_));
  }

  /// Forgets what was read. Local, but see node_bytes; gets under way still complete.
  void invalidate() { detail::check("wherry_win_invalidate", wherry_win_invalidate(win_)); }

  /// What the cache has done on this rank. Of a window that is not cached all but gets_passed are 0. Local.
  wherry_win_statistics statistics() const {
    wherry_win_statistics statistics;
    detail::check("wherry_win_get_statistics", wherry_win_get_statistics(win_, &statistics));
    return statistics;
  }
  /// How the cache came to its size: the last changes, at most 64, oldest first. Local.
  std::vector<wherry_win_adjustment> adjustments() const {
    constexpr int most = 64;
    std::vector<wherry_win_adjustment> adjustments(most);
    int count = 0;
    detail::check("wherry_win_get_adjustments",
                  wherry_win_get_adjustments(win_, most, adjustments.data(), &count));
    adjustments.resize(static_cast<std::size_t>(count));
    return adjustments;
  }
  bool is_cached() const { return wherry_win_is_cached(win_) != 0; }
  /// As wherry_win_why_not_cached; empty if it is cached.
  std::string why_not_cached() const {
    const char* const reason = wherry_win_why_not_cached(win_);
    return reason == nullptr ? "" : reason;
  }

 private:
  explicit Window(std::span<T> local) : local_(local) {}

  static MPI_Datatype type() { return detail::datatype<T>(); }
  static MPI_Aint bytes(std::size_t values) {
    if (values > static_cast<std::size_t>(std::numeric_limits<MPI_Aint>::max()) / sizeof(T))
      throw usage_error(std::to_string(values) + " values of " + std::to_string(sizeof(T)) +
                        " bytes are more than there can be; make the window smaller");
    return static_cast<MPI_Aint>(values * sizeof(T));
  }
  void return_errors() {
    detail::check("MPI_Win_set_errhandler", MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN));
  }

  std::span<T> local_;
  MPI_Win win_ = MPI_WIN_NULL;
};

}  // namespace wherry
