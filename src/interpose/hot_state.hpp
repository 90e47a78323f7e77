// What every call looks at.
//
// A program's own work drives Wherry out of the caches between two calls; then each line of memory that a call touches
// costs it some tens of nanoseconds. So this stands in two lines, whichever part of the backend sets it, and in those of
// the counters of frees that it asks.
#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>

#include "interpose/freed_handles.hpp"
#include "profile/record.hpp"
#include "profile/watch_clock.hpp"

namespace wherry::run {
class FastPathCalls;  // coll/fast_path.hpp
}  // namespace wherry::run

namespace wherry::interpose {

struct RepeatedCall;  // interpose/repeated_calls.hpp

struct alignas(128) HotState {
  HotState(void* const* next_definitions, std::ptrdiff_t offset)
      : next(next_definitions), fortran_site_offset(offset) {}

  void* const* const next;                   // Core: each symbol's definition after ours
  const std::ptrdiff_t fortran_site_offset;  // Core

  // Recording: the code of the library's Fortran bindings, once a program has called through them. Their calls are from
  // where the program called a Fortran name.
  std::atomic<std::uintptr_t> bindings_begin = 0, bindings_size = 0;
  [[gnu::always_inline]] bool is_binding(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - bindings_begin.load(std::memory_order_relaxed) <
           bindings_size.load(std::memory_order_relaxed);
  }

  // SharedRuntime: which collectives pass with next to nothing done for them, and which need only be counted. nullptr:
  // none; where somebody listens who writes no record, each is told of.
  std::atomic<const run::FastPathCalls*> passing_calls = nullptr, counted_calls = nullptr;

  // RepeatedCalls: where calls are counted, and whose.
  RepeatedCall* repeated_calls = nullptr;  // nullptr: nowhere
  std::uint32_t counting_thread = 0;

  // WaitPolicy: whether calls that only this rank makes poll, collectives do, or the library is to wait otherwise than
  // it does; and after how many calls that is decided anew.
  std::atomic<bool> polls = false, polls_together = false, library_waits = false;
  std::atomic<int> calls_to_sample = INT_MAX;

  /// Whether no call polls and the library waits as it does. Counts nothing: a blocking call that passes is counted by
  /// count_wait(). No other is counted: the ways to wait are compared by the calls that a program makes, and have to
  /// count the same ones.
  [[gnu::always_inline]] bool leaves_waiting_alone() const {
    return !polls.load(std::memory_order_relaxed) && !polls_together.load(std::memory_order_relaxed) &&
           !library_waits.load(std::memory_order_relaxed);
  }
  /// Counts a call that may wait. True: it is time for WaitPolicy::sample().
  [[gnu::always_inline]] bool count_wait() {
    const int left = calls_to_sample.load(std::memory_order_relaxed);
    if (left <= 0) [[unlikely]]
      return true;
    calls_to_sample.store(left - 1, std::memory_order_relaxed);
    return false;
  }

  std::atomic<std::size_t> abandoned_messages = 0;  // p2p::PendingMessages

  // Recording.
  profile::Header* record = nullptr;
  profile::WatchClock clock;
  FreedHandles freed, freed_types;  // Handles; of communicators and windows, of types
};

}  // namespace wherry::interpose
