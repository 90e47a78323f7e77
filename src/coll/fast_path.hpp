// The fast path: native calls until the learner's next decision, with nothing looked up for them.
//
// Where a call takes some microseconds, looking at its datatypes and at what was learned takes a good part of that.
#pragma once

#include "coll/blocking.hpp"
#include "coll/state/call_signature.hpp"

namespace wherry::run {

class FastPathCalls {
 public:
  FastPathCalls(const RuntimeContext& context, const Running& running)
      : context_(context),
        registry_(context.registry),
        instructions_(context.instructions),
        running_(running) {}

  /// That of a call on a communicator that calls were made on lately; nullptr: it may have none.
  template <Comparable Call>
  [[gnu::always_inline]] FastPath* of(const Call& call) const {
    Communicator* const c = registry_.recent(call.comm);
    return c == nullptr ? nullptr : &c->fast_path[index_of(collective_of<Call>)];
  }
  /// Whether a call that is like these needs no more than the library. Then it is counted, and must be native.
  template <Comparable Call>
  [[gnu::always_inline]] bool take(FastPath& fast_path, const Call& call) const {
    if (fast_path.left == 0 || !is_asked_for(fast_path, collective_of<Call>) ||
        fast_path.like != signature_of(call))
      return false;
    if (fast_path.trial != nullptr && !fast_path.choice->cell.passes(*fast_path.trial)) return false;
    --fast_path.left;
    ++fast_path.made;
    return true;
  }
  /// Such a call.
  int run(FastPath& fast_path, MPI_Comm comm, const Native& native) const {
    return context_.observer == nullptr ? native() : run_observed(fast_path, comm, native);
  }
  /// For the reading of a call's arguments. Runs where native calls would be spared it, unwatched, and the learner is
  /// about to compare.
  template <Comparable Call>
  CallTimer reading(const Communicator& c, Collective collective, const Call& call) const {
    const FastPath& fast_path = c.fast_path[index_of(collective)];
    const Choice* const last = c.recent_choices[index_of(collective)].choice;
    const bool may_become_fast = fast_path.lasts.value_or(false) && fast_path.like == signature_of(call);
    return {context_.now, may_become_fast && last != nullptr && last->cell.may_want_time()};
  }
  /// Tells the learner of the calls that were made without it.
  static void end(FastPath& fast_path);
  /// Looks whether those that follow this call need no more than the library. Not at the first of its kind, which may
  /// be the only one.
  void grow(Communicator& c, const CallSignature& like, const Described& call) const;

 private:
  static void stay_native(FastPath& fast_path);
  void grow_learned(Communicator& c, FastPath& fast_path, const Described& call) const;
  int run_observed(FastPath& fast_path, MPI_Comm comm, const Native& native) const;
  /// Whether that is still asked for which made the calls fast.
  [[gnu::always_inline]] bool is_asked_for(const FastPath& fast_path, Collective collective) const {
    return instructions_.of(collective).kind ==
           (fast_path.is_learned ? Instruction::Kind::learn : Instruction::Kind::native);
  }

  const RuntimeContext& context_;
  const CommunicatorRegistry& registry_;
  const Instructions& instructions_;
  const Running& running_;
};

}  // namespace wherry::run
