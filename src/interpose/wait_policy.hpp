// How the program's blocking calls wait in this process: in the library, or by their nonblocking forms and polling.
//
// Point-to-point calls and those on requests are each rank's own affair, and follow what the kernel counts. Blocking
// and nonblocking collectives do not match (MPI 4.1, 6.12), so for those the ranks of MPI_COMM_WORLD agree once, when
// MPI has begun. What they agreed holds in communicators of no others: those of programs that were spawned or connected
// may have agreed on something else.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/settings.hpp"
#include "interpose/handles.hpp"
#include "interpose/hot_state.hpp"
#include "interpose/library_waits.hpp"
#include "interpose/post_notices.hpp"
#include "mpi/api.hpp"
#include "waiting/decision.hpp"
#include "waiting/sampling_interval.hpp"

namespace wherry::interpose {

class WaitPolicy {
 public:
  WaitPolicy(const Settings& settings, const mpi::Api& api, const Queries& queries, std::size_t functions,
             const LibraryWaits::Callbacks& waits, HotState& hot)
      : settings_(settings),
        api_(api),
        queries_(queries),
        decision_(WaitMode::spin, {}),
        counts_(new std::atomic<std::uint32_t>[functions] {}),
        hot_(hot),
        library_(api, waits, hot.library_waits),
        notices_(api, queries) {}

  /// MPI has begun. has_world: there is an MPI_COMM_WORLD, over which this is then collective. Without, nothing is known
  /// of the cores, and each rank follows its counters.
  /// find: a symbol of the library, or nullptr.
  void begin(bool has_world, void* (*find)(const char* name));
  /// MPI is about to end: from now on all calls are native. Where collectives poll, all ranks wait for each
  /// other.
  void end();

  /// Whether a call that only this rank makes polls.
  [[gnu::always_inline]] bool polls() {
    if (hot_.count_wait()) [[unlikely]]
      sample();
    return hot_.polls.load(std::memory_order_relaxed);
  }
  /// Looks at what the kernel counts, and decides anew.
  void sample();
  /// Whether a collective polls, alike on all ranks of comm.
  bool polls_together(MPI_Comm comm) {
    return hot_.polls_together.load(std::memory_order_relaxed) && is_of_world(comm);
  }
  /// The same for a reduction, whose nonblocking form may combine in another order.
  bool reduces_together(MPI_Comm comm) { return !settings_.reproducible && polls_together(comm); }

  /// The same for an exchange among neighbors. Open MPI orders the blocks of a neighbor that is listed twice otherwise
  /// in its nonblocking forms.
  bool exchanges_together(MPI_Comm comm) {
    return polls_together(comm) && (orders_neighbors_ || has_distinct_neighbors(comm));
  }

  /// Counts a call that polls. True.
  bool note(std::uint32_t function) {
    counts_[function].fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  std::uint32_t polled(std::uint32_t function) const {
    return counts_[function].load(std::memory_order_relaxed);
  }

  /// Whether the library gives the core away in a call that only it can make; then leave_library() ends that.
  bool enter_library(std::uint32_t function) {
    if (!polls()) return library_.rest(), false;
    return library_.enter(!decision_.adapts()) && note(function);
  }
  void leave_library() { library_.leave(); }
  bool wait_in_library() { return library_.wait(); }
  PostNotices& notices() { return notices_; }

  /// Intel MPI's nonblocking collectives refuse counts beyond int, which its blocking ones take.
  bool polls_with_large_counts() const { return large_counts_; }

  /// For the record and for messages.
  const waiting::Situation& situation() const { return situation_; }
  bool is_together() const { return hot_.polls_together; }
  const waiting::Decision& decision() const { return decision_; }

 private:
  void agree();
  void meet() const;
  void count_ranks_on_host();
  bool ends_well(int code, MPI_Request request) const;
  std::uint64_t combined(std::uint64_t* words, int count) const;
  bool is_of_world(MPI_Comm comm);
  bool find_whether_of_world(MPI_Comm comm) const;
  bool has_distinct_neighbors(MPI_Comm comm) const;

  const Settings& settings_;
  const mpi::Api& api_;
  const Queries& queries_;
  waiting::Situation situation_;
  waiting::Decision decision_;
  bool large_counts_ = true;
  bool orders_neighbors_ = true;  // alike in blocking and nonblocking exchanges
  std::atomic_flag sampling_;     // guards what follows
  waiting::SamplingInterval interval_;
  std::uint64_t calls_ = 0;  // at the last sample
  std::uint64_t sampled_ns_ = 0;
  std::unique_ptr<std::atomic<std::uint32_t>[]> counts_;  // of each function, calls that polled
  HotState& hot_;
  int keyval_ = MPI_KEYVAL_INVALID;
  LibraryWaits library_;
  PostNotices notices_;
};

/// MPI's functions as Wherry itself calls them in the preload, whose own agreements wait as the program's calls do: the
/// same table, with collectives that poll where WaitPolicy says so in their communicator. library must outlive the
/// result, and is the same for all calls.
mpi::Api patient_api(const mpi::Api& library);

}  // namespace wherry::interpose
