// Calls with the same key as one that was booked: each is counted in one cache line.
//
// To book a call takes some thirty functions. A program's own work drives their code and data out of the caches; then a
// call costs several times what it costs in a loop.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "interpose/destination.hpp"
#include "interpose/handles.hpp"
#include "interpose/hot_state.hpp"
#include "interpose/process_state.hpp"
#include "profile/recorder.hpp"

namespace wherry::interpose {

/// What such calls have in common. A call without a communicator, window or type has the null handles.
struct RepeatKey {
  const void* site;
  std::uint32_t function;
  std::uint64_t object;  // number of its communicator or window
  MPI_Datatype type;
  MPI_Count count;  // by its power of two
  int peer;         // -1: none, or any
};

/// Where in the record they are counted.
struct BookedAt {
  std::uint32_t row = profile::none;  // of Recorder::call()
  std::uint32_t place = profile::none;
  std::string_view fallback;  // the reason why these collectives are native; empty: none is reported
  Destination destination;
  Combiner combiner = 0;  // of their type
};

/// Calls of one key.
///
/// Of a derived type they are counted as long as it lives. Where types are short-lived, and the handle of one comes again
/// and again as a new one that is freed after a call or two, the first call of each is counted.
struct alignas(64) RepeatedCall {
  const void* site = nullptr;
  std::uint64_t object = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::uint64_t bytes = 0;  // of those that are counted and not yet booked
  std::uint32_t function = profile::none;
  // How many handles of the numbers of its communicator or window, and of its derived type, had been freed: when this
  // was kept or, of short-lived types, at the last call.
  std::uint32_t freed_objects = 0, freed_types = 0;
  std::uint32_t element = 0;  // bytes of one of the type, unless it is short-lived
  std::uint32_t row = profile::none;
  int peer = 0;
  std::uint16_t calls = 0;         // as `bytes`
  std::uint8_t left = 0, gap = 0;  // may be counted before the next that is timed; how many that were
  std::uint8_t bucket = 0;         // of the bytes of each
  std::uint8_t count_bucket = 0;
  bool is_derived : 1 = false, is_short_lived : 1 = false;  // its type
  bool may_wait : 1 = false;

  // One of so many short-lived types is looked at: it may have come to last, if another one whose number has the same
  // hash was freed.
  static constexpr std::uint8_t looked_at_each = 16;
  bool is_looked_at() const { return left % looked_at_each == looked_at_each - 1; }

  std::uint32_t since_timed() const { return gap > left ? static_cast<std::uint32_t>(gap - left) : 0; }
  void count(std::uint64_t bytes_moved) {
    --left;
    ++calls;
    bytes += bytes_moved;
  }
};
static_assert(sizeof(RepeatedCall) == 64);

/// Of one thread, where several may call MPI at once: the one that begins it, as the others need not be many. find() and
/// what it finds need no lock; all else does.
class RepeatedCalls {
 public:
  using Entry = RepeatedCall;

  RepeatedCalls(profile::Recorder& recorder, HotState& hot) : recorder_(recorder), hot_(hot) {}

  /// From now on calls may be counted here. at_once: threads may call at once; then those of this one.
  void begin(bool at_once);
  /// Books all, and counts no more. No call may be under way.
  void end();
  /// Counts no more, in a process that was forked.
  void drop() { hot_.repeated_calls = nullptr; }

  /// That of such calls; nullptr: there is none.
  [[gnu::always_inline]] static Entry* find(const RepeatKey& key, const HotState& hot) {
    if (!counts_here(hot)) return nullptr;
    Entry& entry = hot.repeated_calls[slot_of(key)];
    const bool is_same = is_of(entry, key) && entry.freed_objects == hot.freed.count(key.object) &&
                         (!entry.is_derived || may_count(entry, hot));
    return is_same ? &entry : nullptr;
  }
  /// Whether keep() would evict no live entry.
  bool has_free_entry(const RepeatKey& key) const {
    if (!counts_here(hot_)) return false;
    const Entry& entry = hot_.repeated_calls[slot_of(key)];
    return entry.function == profile::none || entry.freed_objects != hot_.freed.count(entry.object) ||
           (entry.is_derived && !entry.is_short_lived && !may_count(entry, hot_));
  }
  /// From now on so many calls like the one that was booked may be counted. It moved bytes of elements of that size.
  struct Kept {
    RepeatKey key;
    BookedAt booked;
    std::uint64_t bytes;
    std::uint32_t element;
    std::uint32_t calls;
    bool may_wait;
    std::uint64_t time_ns;  // that each is thought to take
    bool exchanges;         // sends and receives: what goes to the peer is less than what it moves
    bool is_short_lived;    // its type, perhaps
  };
  void keep(const Kept& kept);
  /// One of a derived type was booked, by which no more may be counted than by the one that was kept. may_count: else no
  /// more calls of the key are.
  void look_at(const RepeatKey& key, bool may_count);
  const BookedAt& booked(const Entry& entry) { return details_of(entry).booked; }
  /// Books one that its entry could not count: it moved less or more, took long, or failed. The next one is timed.
  struct Uncounted {
    std::uint64_t bytes, sent;         // sent: to the peer
    std::uint64_t enter_ns, leave_ns;  // 0: not timed
    Combiner combiner;                 // of its type
    bool succeeded;
  };
  void book(Entry& entry, const Uncounted& call);
  /// What a call has sent that both sends and receives, and that is counted.
  void add_sent(const Entry& entry, std::uint64_t bytes) { details_of(entry).sent += bytes; }
  /// Books the time of the last call that was timed for so many that were counted.
  void add_time(Entry& entry, std::uint32_t calls);
  /// Books what was counted; what another thread counts, it books itself.
  void settle();

 private:
  static constexpr std::size_t slots = 128;  // a power of two
  static constexpr std::uint32_t any_thread = ~0U;

  [[gnu::always_inline]] static bool counts_here(const HotState& hot) {
    return hot.repeated_calls != nullptr &&
           (hot.counting_thread == any_thread || hot.counting_thread == calling_thread());
  }

  struct Details {
    BookedAt booked;
    std::uint64_t time_ns = 0;  // of each, as far as is known
    bool exchanges = false;
    std::uint64_t sent = 0;  // of those that are counted and exchange
  };

  [[gnu::always_inline]] static bool is_of(const Entry& entry, const RepeatKey& key) {
    return entry.site == key.site && entry.function == key.function && entry.object == key.object &&
           entry.type == key.type && entry.peer == key.peer && entry.count_bucket == bucket_of(key.count);
  }
  /// By its derived type: as long as none of its number is freed; of short-lived ones when one was.
  [[gnu::always_inline]] static bool may_count(const Entry& entry, const HotState& hot) {
    return (entry.freed_types == hot.freed_types.count(number_of(entry.type))) != entry.is_short_lived;
  }
  [[gnu::always_inline]] static std::uint8_t bucket_of(MPI_Count count) {
    return static_cast<std::uint8_t>(profile::bucket_of(static_cast<std::uint64_t>(count)));
  }
  [[gnu::always_inline]] static std::size_t slot_of(const RepeatKey& key) {
    const auto site = reinterpret_cast<std::uintptr_t>(key.site);
    const std::uint64_t word =
        site ^ std::uint64_t{bucket_of(key.count)} << 40 ^ static_cast<std::uint64_t>(key.peer) << 48;
    return profile::mix(word + key.function + (key.object << 24)) >> 24 & (slots - 1);
  }
  Details& details_of(const Entry& entry) {
    return details_[static_cast<std::size_t>(&entry - entries_.get())];
  }
  void settle(Entry& entry);
  void book_type(Combiner combiner, std::uint32_t calls, std::uint64_t bytes);
  void close(Entry& entry);

  profile::Recorder& recorder_;
  std::unique_ptr<Entry[]> entries_;  // live on after end(), which a call that is under way may lead to
  std::unique_ptr<Details[]> details_;
  HotState& hot_;
};

}  // namespace wherry::interpose
