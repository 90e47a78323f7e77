// A backend's record: what it is written from, where calls come from, and when it is open.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "base/settings.hpp"
#include "interpose/core.hpp"
#include "interpose/handles.hpp"
#include "interpose/process_state.hpp"
#include "interpose/program_memory.hpp"
#include "interpose/repeated_calls.hpp"
#include "interpose/wait_policy.hpp"
#include "mpi/api.hpp"
#include "profile/call_paths.hpp"
#include "profile/recorder.hpp"
#include "profile/sampling.hpp"
#include "profile/sites.hpp"

namespace wherry::interpose {

class Recording {
 public:
  /// What a record tells of. sessions: that are open.
  struct Sources {
    const Core& core;
    const Settings& settings;
    Activity& activity;
    const mpi::Api& api;
    const Queries& queries;
    const WaitPolicy& wait_policy;
    ProgramMemory& memory;
    const std::atomic<int>& sessions;
    HotState& hot;
  };
  explicit Recording(const Sources& sources);

  /// The place that called MPI, or none if the MPI library called itself. Needs the lock.
  std::uint32_t place_of(const void* site);
  /// Where that place is in this process; nullptr: in no loaded object. Its module is in the record from now on. Needs
  /// the lock.
  const void* address_of(std::uint32_t place);
  /// Whether place_of() has found lately that the program itself calls from there. Needs no lock; may forget.
  [[gnu::always_inline]] bool is_program(const void* site) const {
    return site != nullptr && program_sites_[slot_of(site)].load(std::memory_order_relaxed) == site;
  }

  // With the lock held.
  /// Whether events may be booked now: the record is open, or can be opened.
  bool is_ready() { return state_ == State::open || open_if_due(); }
  /// Opens it where it is still to be opened. False: it is not.
  bool open_if_due() { return is_due() && open(); }
  /// Whether it is still to be opened.
  bool is_due() const { return state_ == State::not_yet; }
  /// Called from time to time.
  void settle(std::uint64_t now_ns);
  /// Books what was counted since.
  void settle_counts();
  /// Before a sudden end, which a library may bring about only after it has returned to the program: MPI_Finalize
  /// counts as not reached then.
  void abort();
  /// Writes what is left, if it is open.
  void finish();

  /// Nothing is recorded from now on.
  void end() { close(State::ended); }
  /// In a child made by fork. Another thread may have held the lock when the process was copied.
  void stop_in_child();

 private:
  profile::Sites sites_;  // the next two look into it

 public:
  SpinLock lock;  // guards all of the following
  profile::Recorder recorder;
  profile::CallPaths paths;
  profile::Sampling sampling;
  Handles handles;
  RepeatedCalls repeated;

 private:
  static constexpr std::size_t remembered_sites = 64;
  static std::size_t slot_of(const void* site) {
    return reinterpret_cast<std::uintptr_t>(site) % remembered_sites;
  }

  enum class State { off, not_yet, open, ended };

  bool open();
  void close(State state);
  void know_bindings(const void* site);
  void book_polled();
  void book_wait_trials();
  void record_memory(std::uint64_t now_ns);

  const Sources sources_;
  State state_;
  bool is_aborted_ = false;
  const profile::WatchClock::Moment begin_ = profile::WatchClock::now();
  std::uint64_t next_settle_ns_ = 0;
  std::array<std::atomic<const void*>, remembered_sites> program_sites_ = {};
  std::array<std::uint32_t, remembered_sites> program_places_ = {};  // of the same; needs the lock
};

}  // namespace wherry::interpose
