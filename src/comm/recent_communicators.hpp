// The state of communicators that calls were made on lately, by their handles.
//
// To ask the library for an attribute takes longer than all else that a native call costs under Wherry.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace wherry::run {

/// Calls that the program's own callbacks make on a communicator while it is freed: the library may have let our
/// attribute go by then, and of what is made for them nobody tells us when it goes.
enum class CallsWhileFreed {
  come,       // so a handle that was freed is not kept again
  stay_away,  // who calls us sees the program free communicators, and passes such calls by
};

/// find() may be called by any thread that may use the communicator: no other one makes or frees it meanwhile, so what
/// is found lives. put() needs a lock of the caller's.
template <class State>
class RecentCommunicators {
 public:
  explicit RecentCommunicators(CallsWhileFreed calls) : calls_(calls) {}

  /// nullptr: not known here.
  [[gnu::always_inline]] State* find(MPI_Comm comm) const {
    const Entry& entry = entries_[slot_of(comm)];
    const std::uint32_t version = entry.version.load(std::memory_order_acquire);
    if (entry.comm.load(std::memory_order_acquire) != comm) return nullptr;
    State* const found = entry.state.load(std::memory_order_acquire);
    // Another thread may be putting another one here, or have done so and put this one back: then whose state was found
    // is not known.
    return version % 2 == 0 && entry.version.load(std::memory_order_relaxed) == version ? found : nullptr;
  }
  void put(MPI_Comm comm, State* state) {
    if (was_freed(comm)) return;
    Entry& entry = entries_[slot_of(comm)];
    const std::uint32_t version = entry.version.load(std::memory_order_relaxed);
    entry.version.store(version + 1, std::memory_order_relaxed);
    entry.comm.store(MPI_COMM_NULL, std::memory_order_release);
    entry.state.store(state, std::memory_order_release);
    entry.comm.store(comm, std::memory_order_release);
    entry.version.store(version + 2, std::memory_order_release);
  }
  /// Needs no lock, and comes before the handle can be given to another communicator. Who puts another one here
  /// meanwhile only finds it gone.
  void forget(MPI_Comm comm, const State* state) {
    if (calls_ == CallsWhileFreed::come)
      freed_[word_of(comm)].fetch_or(bit_of(comm), std::memory_order_release);
    for (Entry& entry : entries_)
      if (entry.state.load(std::memory_order_acquire) == state)
        entry.comm.store(MPI_COMM_NULL, std::memory_order_release);
  }

 private:
  static constexpr std::size_t slots = 16, words = 16, bits = 64;

  struct Entry {
    std::atomic<std::uint32_t> version = 0;  // odd: somebody is putting another one here
    std::atomic<MPI_Comm> comm = MPI_COMM_NULL;
    std::atomic<State*> state = nullptr;
  };

  /// Handles are numbers that differ in their highest or lowest bits, or addresses of structures.
  [[gnu::always_inline]] static std::size_t hash_of(MPI_Comm comm) {
    return static_cast<std::size_t>(std::hash<MPI_Comm>{}(comm) * 0x9e3779b97f4a7c15U >> 40);
  }
  [[gnu::always_inline]] static std::size_t slot_of(MPI_Comm comm) { return hash_of(comm) % slots; }
  static std::size_t word_of(MPI_Comm comm) { return hash_of(comm) / bits % words; }
  static std::uint64_t bit_of(MPI_Comm comm) { return std::uint64_t{1} << hash_of(comm) % bits; }
  bool was_freed(MPI_Comm comm) const {
    return (freed_[word_of(comm)].load(std::memory_order_acquire) & bit_of(comm)) != 0;
  }

  const CallsWhileFreed calls_;
  std::array<Entry, slots> entries_;
  std::array<std::atomic<std::uint64_t>, words> freed_ = {};  // handles, by their hashes
};

}  // namespace wherry::run
