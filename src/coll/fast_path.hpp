// The fast path: native calls until the next decision about them, with nothing looked up for them.
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
        types_(context.types),
        running_(running) {}

  /// That of a call on a communicator that calls were made on lately; nullptr: it has none.
  template <Comparable Call>
  [[gnu::always_inline]] FastPath* of(const Call& call) const {
    Communicator* const c = registry_.recent(call.comm);
    return c == nullptr ? nullptr : of(*c, call);
  }
  /// The same on the communicator of the call.
  template <Comparable Call>
  [[gnu::always_inline]] static FastPath* of(Communicator& c, const Call& call) {
    Choices* const choices = c.find<Choices>();  // making them here would keep this from being inlined
    return choices == nullptr ? nullptr
                              : choices->fast_paths[ComparableCalls::index<Call>].find(signature_of(call));
  }
  /// Whether such a call needs no more than the library. Then it is counted, and must be native.
  [[gnu::always_inline]] bool take(FastPath& fast_path, Collective collective) const {
    if (!fast_path.is_open || !is_asked_for(fast_path, collective) || !has_its_types(fast_path)) return false;
    if (fast_path.cell != nullptr && !fast_path.cell->pass()) return false;
    FastPaths::keep(fast_path);
    return true;
  }
  /// Such a call.
  int run(FastPath& fast_path, MPI_Comm comm, const Native& native) const {
    return context_.observer == nullptr ? native() : run_observed(fast_path, comm, native);
  }
  /// For the reading of a call's arguments. Runs where native calls would be spared it, unwatched, and the learner is
  /// about to compare.
  template <Comparable Call>
  CallTimer reading(Communicator& c, const Call& call) const {
    const FastPath* const fast_path = of(c, call);
    return {context_.now,
            fast_path != nullptr && fast_path->cell != nullptr && fast_path->cell->may_want_time()};
  }
  /// Looks whether those that follow this call need no more than the library. Not at the first of its kind, which may
  /// be the only one.
  template <Comparable Call>
  void grow(Communicator& c, const Call& call, const Described& described) const {
    if (FastPath* const fast_path = of(c, call)) open(c, *fast_path, described);
    else c.state<Choices>().fast_paths[ComparableCalls::index<Call>].add(signature_of(call));
  }

 private:
  void open(Communicator& c, FastPath& fast_path, const Described& call) const;
  void look_at_types(FastPath& fast_path) const;
  int run_observed(FastPath& fast_path, MPI_Comm comm, const Native& native) const;
  /// Whether that is still asked for which made the calls fast.
  [[gnu::always_inline]] bool is_asked_for(const FastPath& fast_path, Collective collective) const {
    return instructions_.of(collective).kind ==
           (fast_path.is_learned ? Instruction::Kind::learn : Instruction::Kind::native);
  }
  [[gnu::always_inline]] bool has_its_types(const FastPath& fast_path) const {
    return fast_path.lasts == Lasting::always || fast_path.freed_types == types_.freed();
  }

  const RuntimeContext& context_;
  const CommunicatorRegistry& registry_;
  const Instructions& instructions_;
  const datatype::WatchedTypes& types_;
  const Running& running_;
};

}  // namespace wherry::run
