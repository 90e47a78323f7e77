// The lever WHERRY_MEMORY: samples the process every few milliseconds, at calls that the preload sees anyway, and lets
// malloc keep what the program frees where that pays.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/settings.hpp"
#include "heap/freed_memory.hpp"
#include "heap/malloc_options.hpp"
#include "profile/record.hpp"
#include "waiting/sampling_interval.hpp"

namespace wherry::interpose {

class ProgramMemory {
 public:
  /// watched: whether anybody wants to know although nothing may be changed.
  void configure(MemoryLever lever, bool watched);

  bool is_active() const { return active_; }
  /// Counts a call. Threads may lose a count to each other.
  void count() { calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  bool is_due(std::uint64_t now_ns) const {
    return active_ && now_ns >= next_ns_.load(std::memory_order_relaxed);
  }
  /// Nobody reads the spans any more.
  void unwatch() {
    watched_ = false;
    if (lever_ == MemoryLever::leave) active_ = false;
  }

  /// A call of which nothing is recorded, so that nobody else looks at the clock.
  [[gnu::always_inline]] void pass_by() {
    if (!is_active()) return;
    count();
    const int left = calls_to_read_.load(std::memory_order_relaxed);
    if (left > 0) [[likely]]
      calls_to_read_.store(left - 1, std::memory_order_relaxed);
    else read();
  }

  /// Samples the process and acts. False: another thread is at it. Returns with the span that holds now.
  bool take_sample(std::uint64_t now_ns);
  void stop() { active_ = false; }

  /// The figures since the state changed last, and how many changes there were.
  const profile::MemoryRecord& span() const { return span_; }
  std::uint32_t changes() const { return changes_; }
  /// Why malloc may not be told to keep freed memory, whatever the lever says; empty: it may.
  std::string_view why_not() const { return why_not_; }

 private:
  void read();
  void begin();
  heap::Freed wanted(const heap::FaultSample& sample);
  void add(const heap::FaultSample& sample);
  void act(heap::Freed wanted, std::uint64_t now_ns);
  void check(std::uint64_t now_ns);

  MemoryLever lever_ = MemoryLever::leave;
  std::atomic<bool> watched_ = false;  // somebody reads the spans
  std::atomic<bool> active_ = false;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::uint64_t> next_ns_ = 0;
  std::atomic<int> calls_to_read_ = 0;
  std::atomic_flag reading_;  // guards the next two
  waiting::SamplingInterval sampling_interval_;
  std::uint64_t read_ns_ = 0;
  std::atomic_flag sampling_;  // guards what follows
  bool begun_ = false;
  std::string_view why_not_;
  std::size_t keepable_ = 0;
  heap::MallocOptions options_;
  heap::FreedMemory decision_{0};
  heap::FaultSample last_;
  std::uint64_t system_ns_ = 0, user_ns_ = 0;  // of the process, at last_
  std::uint64_t next_check_ns_ = 0;            // of the machine's memory
  profile::MemoryRecord span_ = {};
  std::uint32_t changes_ = 0;
};

}  // namespace wherry::interpose
