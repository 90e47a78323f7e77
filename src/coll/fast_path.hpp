// Calls of which nothing more is to be learned for a while, and which are the library's.
//
// Where a call takes some microseconds, looking at its datatypes and at what was learned takes a good part of that.
#pragma once

#include "coll/blocking.hpp"
#include "coll/state/call_signature.hpp"
#include "coll/stopwatch.hpp"

namespace wherry::run {

class QuietCalls {
 public:
  QuietCalls(const Parts& parts, const Running& running) : parts_(parts), running_(running) {}

  /// Whether a call that is like these needs no more than the library.
  template <Comparable Call>
  bool cover(const Quiet& quiet, Collective collective, const Call& call) const {
    return quiet.left > 0 && quiet.like == likeness_of(call) && is_learning(collective);
  }
  /// Such a call.
  int run(Quiet& quiet, MPI_Comm comm, const Native& native) const {
    --quiet.left;
    ++quiet.made;
    return parts_.observer == nullptr ? native() : running_.run_native(comm, quiet.key, quiet.bytes, native);
  }
  /// For the reading of a call's arguments. Runs where the library's calls would be spared it, being quiet, and the learner is
  /// about to compare.
  template <Comparable Call>
  Stopwatch reading(const Communicator& c, Collective collective, const Call& call) const {
    const Quiet& quiet = c.quiet[index_of(collective)];
    const Choice* const last = c.recent_choices[index_of(collective)].choice;
    const bool may_become_quiet = quiet.lasts.value_or(false) && quiet.like == likeness_of(call);
    return {parts_.now, may_become_quiet && last != nullptr && last->cell.may_want_time()};
  }
  /// Tells the learner of the calls that were made without it.
  static void end(Quiet& quiet);
  /// Looks whether those that follow this call need no more than the library. Not at the first of its kind, which may be the
  /// only one.
  void grow(Communicator& c, const Likeness& like, const Described& call) const;

 private:
  bool is_learning(Collective collective) const {
    return parts_.instructions.of(collective).kind == Instruction::Kind::learn;
  }

  const Parts& parts_;
  const Running& running_;
};

}  // namespace wherry::run
