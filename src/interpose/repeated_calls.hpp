// Calls that are like one that was booked: each is counted in one line of the cache.
//
// To book a call takes some thirty functions. Their code and data are what a program's own work drives out of the
// caches, so that a call costs several times there what it does in a loop.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "profile/recorder.hpp"

namespace wherry::interpose {

/// What such calls have in common. Of a call without a communicator, type or peer: the null handles, and 0.
struct Likeness {
  const void* site;
  std::uint32_t function;
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Count count;  // those whose powers of two are the same are counted together
  int peer;
};

/// Where they are booked. What the record calls none counts nowhere.
struct Booked {
  std::uint32_t row = profile::none;   // of Recorder::call()
  std::uint32_t comm = profile::none;  // index in the record
  std::uint32_t place = profile::none;
  int peer = -1;             // rank in MPI_COMM_WORLD that messages go to; -1: none do
  std::string_view refusal;  // why Wherry leaves these collectives to the library; empty: it need not say
};

/// For programs whose threads call MPI one at a time. find() and what it finds need no lock then; all else does.
class RepeatedCalls {
 public:
  struct alignas(64) Entry {
    const void* site = nullptr;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::uint64_t bytes = 0;  // of those that are counted and not yet booked
    std::uint32_t function = profile::none;
    std::uint32_t freed = 0;    // communicators, when it was kept
    std::uint32_t element = 0;  // bytes of one of the type
    std::uint32_t row = profile::none;
    int peer = 0;
    std::uint32_t calls = 0;          // as `bytes`
    std::uint16_t bucket = 0;         // of the bytes of each
    std::uint16_t left = 0, gap = 0;  // may be counted before the next that is timed; how many that were
    bool may_wait = false;

    std::uint32_t since_timed() const { return static_cast<std::uint32_t>(gap - left); }
    void count(std::uint64_t bytes_moved) {
      --left;
      ++calls;
      bytes += bytes_moved;
    }
  };
  static_assert(sizeof(Entry) == 64);

  /// freed: how many communicators have been; their handles may be used again.
  RepeatedCalls(profile::Recorder& recorder, const std::atomic<std::uint32_t>& freed)
      : recorder_(recorder), freed_(freed) {}

  /// From now on calls may be counted here.
  void begin();
  /// Books all, and counts no more.
  void end();
  /// Counts no more, in a process that was forked.
  void drop() { entries_.reset(); }

  /// That of such calls; nullptr: there is none.
  [[gnu::always_inline]] Entry* find(const Likeness& like) const {
    if (entries_ == nullptr) return nullptr;
    Entry& entry = entries_[slot_of(like)];
    const bool is_alike = entry.site == like.site && entry.function == like.function &&
                          entry.comm == like.comm && entry.type == like.type && entry.peer == like.peer &&
                          entry.freed == freed_.load(std::memory_order_relaxed);
    return is_alike ? &entry : nullptr;
  }
  /// From now on so many calls like the one that was booked may be counted. It moved bytes of elements of that size.
  struct Kept {
    Likeness like;
    Booked booked;
    std::uint64_t bytes;
    std::uint32_t element;
    std::uint32_t calls;
    bool may_wait;
    std::uint64_t time_ns;  // of that call
  };
  void keep(const Kept& kept);
  const Booked& booked(const Entry& entry) { return details_of(entry).booked; }
  /// Books one that its entry could not count: it moved less or more, took long, or failed.
  struct Odd {
    std::uint64_t bytes;
    std::uint64_t enter_ns, leave_ns;  // 0: not timed
    bool succeeded;
  };
  void book(Entry& entry, const Odd& odd);
  /// So many that were counted took the time of the last that was timed.
  void take_as_before(Entry& entry, std::uint32_t calls);
  /// Books what was counted.
  void settle();

 private:
  static constexpr std::size_t slots = 128;  // a power of two

  struct Details {
    Booked booked;
    std::uint64_t time_ns = 0;  // of the last that was timed
  };

  [[gnu::always_inline]] static std::size_t slot_of(const Likeness& like) {
    const auto site = reinterpret_cast<std::uintptr_t>(like.site);
    const std::uint64_t size = profile::bucket_of(static_cast<std::uint64_t>(like.count));
    const std::uint64_t key = site ^ size << 40 ^ static_cast<std::uint64_t>(like.peer) << 48;
    return profile::mix(key + like.function) >> 24 & (slots - 1);
  }
  Details& details_of(const Entry& entry) {
    return details_[static_cast<std::size_t>(&entry - entries_.get())];
  }
  void settle(Entry& entry);
  void close(Entry& entry);

  profile::Recorder& recorder_;
  std::unique_ptr<Entry[]> entries_;  // nullptr: nothing is counted here
  std::unique_ptr<Details[]> details_;
  const std::atomic<std::uint32_t>& freed_;
};

}  // namespace wherry::interpose
