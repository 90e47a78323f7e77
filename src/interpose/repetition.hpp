// A call that may be counted by one like it that was booked, for the generated wrappers.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "interpose/account.hpp"
#include "interpose/backend.hpp"
#include "interpose/repeated_calls.hpp"

namespace wherry::interpose {

class Repetition {
 public:
  /// receives: its status says how much it moved; all others move what they say.
  Repetition(const Likeness& like, bool receives)
      : like_(like), receives_(receives), entry_(backend().record.repeated.find(like)) {}

  /// Whether it is to be counted, and performed by run().
  bool is_counted() const {
    return entry_ != nullptr && entry_->left > 0 && backend().patience.leaves_alone() && !inside_mpi();
  }
  template <class Native>
  int run(const Native& native) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(like_.count) * entry_->element;
    return run(native, [bytes] { return bytes; });
  }
  /// A receive, whose status says how much has come.
  template <class Native>
  int run_receive(const Native& native, MPI_Status*& status) {
    const Arrived arrived(status);
    return run(native, [&arrived] { return arrived.bytes(); });
  }

  /// Of a call that is booked: for how many its time stands, with those that were counted by it; 0: it does not follow
  /// from these.
  std::uint32_t stands_for() const;
  /// Lets calls like this one be counted from now on, if its time is known. Needs an account.
  void keep(Call& call, const Volume& volume, std::uint32_t row) const;

 private:
  template <class Native, class Bytes>
  int run(const Native& native, const Bytes& bytes) {
    const Inside inside;
    backend().patience.polls();
    const std::uint64_t enter_ns = entry_->may_wait ? profile::coarse_ns() : 0;
    const int code = native();
    count(code, code == MPI_SUCCESS ? bytes() : 0, enter_ns);
    if (backend().pending.has_abandoned()) [[unlikely]]
      backend().pending.finish_abandoned();
    return code;
  }
  void count(int code, std::uint64_t bytes, std::uint64_t enter_ns) {
    const std::uint64_t leave_ns = enter_ns != 0 ? profile::coarse_ns() : 0;
    const bool is_long = leave_ns != enter_ns && leave_ns - enter_ns >= profile::coarsely_known_ns();
    if (code != MPI_SUCCESS || is_long || profile::bucket_of(bytes) != entry_->bucket) [[unlikely]]
      return book({bytes, is_long ? enter_ns : 0, is_long ? leave_ns : 0, code == MPI_SUCCESS});
    entry_->count(bytes);
    backend().record.recorder.set_last_row(entry_->row);
  }
  void book(const RepeatedCalls::Odd& odd) const;
  std::string_view refusal_of(const Call& call) const;

  const Likeness like_;
  const bool receives_;
  RepeatedCalls::Entry* const entry_;
};

}  // namespace wherry::interpose
