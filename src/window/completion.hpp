// What completes the operations of a window, and what ends with it.
//
// A completion notes the last number, lets the library complete, and then takes in what is numbered up to it; whoever
// comes first fills what others wait for, too. No lock is held while the library waits.
#pragma once

#include <cstdint>
#include <optional>

#include "window/fetch_plan.hpp"
#include "window/native_gets.hpp"
#include "window/typical_time.hpp"
#include "window/window_state.hpp"
#include "window/writes.hpp"

namespace wherry::window {

/// Takes the lock itself.
class Completion {
 public:
  Completion(WindowState& common, const NativeGets& native_gets, HeldFetches& held, Writes& writes)
      : common_(common), native_gets_(native_gets), held_(held), writes_(writes) {}

  int flush(int rank, const Native& native) {
    return spares_call(rank, &Target::completed)
               ? MPI_SUCCESS
               : flush_target(rank, &Target::completed, native, &Completion::complete);
  }
  int flush_all(const Native& native);
  int flush_local(int rank, const Native& native) {
    return spares_call(rank, &Target::local)
               ? MPI_SUCCESS
               : flush_target(rank, &Target::local, native, &Completion::complete_locally);
  }
  int flush_local_all(const Native& native);
  int unlock(int rank, const Native& native);
  int unlock_all(const Native& native);
  int end_epoch(const Native& native);
  int synchronize(const Native& native);

  /// With the lock held.
  void report(WindowStatistics& statistics) const;

 private:
  /// What a completion covers: the operations up to a number, those too that were held back, which may have failed.
  struct Covered {
    SequenceNumber last = 0;
    int sent = MPI_SUCCESS;
    std::uint64_t operations = 0;  // how many these are
    bool timed = false;            // one of them was: this call should be, too
    TypicalTime* idle = nullptr;   // what this call takes with nothing to complete; nullptr: nothing
    bool notes_idle = false;       // nothing is to be completed, and the call is timed to know that

    int with(int code) const { return sent != MPI_SUCCESS ? sent : code; }
  };
  /// How it went.
  struct Done {
    SequenceNumber last;
    int code;
    std::optional<PlainTime> time;  // of the completion, if it was taken
  };
  /// What takes the operations of a target up to a state that a completion gives them.
  using Reach = void (Completion::*)(Target&, const Done&);

  /// Whether a flush has nothing to complete; it is counted then. Inlined: after a hit it is all that a flush does.
  bool spares_call(int rank, SequenceNumber Target::* reached) {
    const Lock::Guard guard(common_.lock);
    if (common_.operations.needs(rank, reached) || common_.cache.is_untracked()) return false;
    save_flush();
    return true;
  }
  int save_flush() { return ++flushes_saved_, common_.library.without_call(); }
  Covered cover(int rank);
  Covered cover_all();
  static Covered cover_unlock(Covered covered, TypicalTime& idle);
  Done run(const Covered& covered, const Native& native);
  int flush_target(int rank, SequenceNumber Target::* reached, const Native& native, Reach reach);
  int flush_open(const Native& native, Reach reach);
  int flush_untracked(const Native& native);

  template <class Complete>
  void conclude(Complete&& complete);
  int conclude_at(int rank, const Done& done, Reach reach);
  int conclude_all(const Done& done, Reach reach);
  void complete(Target& target, const Done& done);
  void complete_locally(Target& target, const Done& done);
  void arrive(Target& target, const Done& done);
  void take_in(const Fetched& fetched, bool come);
  static void settle_time(Target& target, const Done& done);

  WindowState& common_;
  const NativeGets& native_gets_;
  HeldFetches& held_;
  Writes& writes_;
  TypicalTime idle_unlock_, idle_unlock_all_;  // what these take with nothing to complete
  std::uint64_t flushes_saved_ = 0;
  Amount aliased_;  // was not kept
};

}  // namespace wherry::window
