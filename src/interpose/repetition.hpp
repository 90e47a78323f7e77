// A call that may be counted with others of its key, for the generated wrappers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "interpose/account.hpp"
#include "interpose/backend.hpp"
#include "interpose/repeated_calls.hpp"

namespace wherry::interpose {

class Repetition {
 public:
  enum class Moves {
    elements,      // as many as the call says
    what_arrives,  // as its status says
    both,          // elements there, what arrives back
  };

  /// waits: it may wait for other ranks, and polls where WaitPolicy says so. room: elements that may come, of an exchange.
  [[gnu::always_inline]] Repetition(const RepeatKey& key, Moves moves, bool waits, MPI_Count room = 0)
      : key_(key),
        moves_(moves),
        waits_(waits),
        room_(room),
        entry_(RepeatedCalls::find(key, backend().hot)) {
    if (entry_ != nullptr && entry_->is_derived && !may_count_type()) entry_ = nullptr;
  }

  /// Whether it is to be counted, and performed by run().
  [[gnu::always_inline]] bool is_counted() const {
    return entry_ != nullptr && entry_->left > 0 && backend().hot.leaves_waiting_alone() && !inside_mpi();
  }
  template <class Native>
  [[gnu::always_inline]] int run(const Native& native) {
    return run(native, [this] { return bytes_of_elements(); });
  }
  /// A receive, whose status says how much has come.
  template <class Native>
  [[gnu::always_inline]] int run_receive(const Native& native, MPI_Status*& status) {
    const Arrived arrived(status);
    return run(native, [&] { return arrived.bytes().value_or(bytes_of_elements()); });
  }
  /// An exchange: sends as many elements as its key has, and receives what it has room for.
  template <class Native>
  [[gnu::always_inline]] int run_exchange(const Native& native, MPI_Status*& status) {
    const Arrived arrived(status);
    return run(native, [&] {
      return bytes_of_elements() +
             arrived.bytes().value_or(static_cast<std::uint64_t>(room_) * bytes_of_one());
    });
  }
  /// One that is timed for those that were counted.
  template <class Native>
  int run_timed(Call& call, const Native& native) const {
    if (waits_) backend().wait_policy.polls();
    return call.run(native);
  }

  /// Of a call that is booked: for how many its time stands, those that were counted among them; 0: whoever samples
  /// decides.
  std::uint32_t stands_for() const;
  /// From now on calls of this key may be counted, as this one was booked in that row. destination(): a Destination.
  /// Needs an account.
  template <class FindDestination>
  void keep(Call& call, const Volume& volume, std::uint32_t row, const FindDestination& destination) const {
    book_time_of_others(call);
    const std::string_view fallback = fallback_of(call);
    if (const std::optional<std::uint32_t> calls = calls_to_count(call, volume); calls.has_value())
      store(call, volume, {row, call.place(), fallback, destination(), volume.combiner}, *calls);
    else if (volume.combiner != 0)
      backend().record.repeated.look_at(key_, is_native_for_good() || is_short_lived_type());
  }

 private:
  template <class Native, class Bytes>
  [[gnu::always_inline]] int run(const Native& native, const Bytes& bytes) {
    const Inside inside;
    if (waits_) backend().count_wait();
    const std::uint64_t enter_ns = entry_->may_wait ? backend().hot.clock.now_ns() : 0;
    const int code = run_under_way(profile::under_way(key_.function, key_.site, enter_ns), native);
    const bool is_alike = !entry_->is_short_lived || (code == MPI_SUCCESS && is_type_alike());
    count(code, code == MPI_SUCCESS ? bytes() : 0, enter_ns, is_alike);
    backend().finish_abandoned();
    return code;
  }
  [[gnu::always_inline]] void count(int code, std::uint64_t bytes, std::uint64_t enter_ns, bool is_alike) {
    const profile::WatchClock& clock = backend().hot.clock;
    const std::uint64_t leave_ns = enter_ns != 0 ? clock.now_ns() : 0;
    const bool is_long = clock.knows(enter_ns, leave_ns);
    if (code != MPI_SUCCESS || is_long || !is_alike || profile::bucket_of(bytes) != entry_->bucket)
        [[unlikely]]
      return book(bytes, is_long ? enter_ns : 0, is_long ? leave_ns : 0, code == MPI_SUCCESS);
    entry_->count(bytes);
    if (moves_ == Moves::both) backend().record.repeated.add_sent(*entry_, bytes_of_elements());
    profile::set_last_call(*backend().hot.record, entry_->row);
  }
  std::uint64_t sent(std::uint64_t bytes) const {
    return moves_ == Moves::both ? bytes_of_elements() : bytes;
  }
  std::uint64_t bytes_of_one() const { return entry_->is_short_lived ? type_.bytes : entry_->element; }
  std::uint64_t bytes_of_elements() const { return static_cast<std::uint64_t>(key_.count) * bytes_of_one(); }
  void book(std::uint64_t bytes, std::uint64_t enter_ns, std::uint64_t leave_ns, bool succeeded) const;
  bool is_type_alike();
  std::string_view fallback_of(const Call& call) const;
  void book_time_of_others(const Call& call) const;
  std::optional<std::uint32_t> calls_to_count(const Call& call, const Volume& volume) const;
  [[gnu::always_inline]] bool may_count_type() const {
    if (entry_->is_short_lived) return !entry_->is_looked_at();
    return room_ == 0 || is_native_for_good();
  }
  bool is_native_for_good() const;
  bool is_short_lived_type() const;
  std::uint64_t time_of_next(const Call& call) const;
  std::uint64_t element() const;  // bytes of one of the type; 0 where the count is 0
  void store(const Call& call, const Volume& volume, const BookedAt& booked, std::uint32_t calls) const;

  const RepeatKey key_;
  const Moves moves_;
  const bool waits_;
  const MPI_Count room_;
  RepeatedCalls::Entry* entry_;
  RecordedType type_{};  // where the entry is_short_lived, once the library has taken it
};

}  // namespace wherry::interpose
