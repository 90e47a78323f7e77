// Collectives that pass to the library with next to nothing done for them, for the generated wrappers.
//
// A call that a setting or a trial has made native is to cost what it costs without Wherry: nothing of it
// is stored, no lock is taken, and the profile counts it by what was found for the one before.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <type_traits>

#include "coll/fast_path.hpp"
#include "interpose/account.hpp"

namespace wherry::interpose {

/// Whether calls of this kind may pass where they come from.
[[gnu::always_inline]] inline bool may_pass(const void* site) {
  return !inside_mpi() && backend().record.is_program(site);
}

/// Whether the library is to perform a call of which nobody wants to know; it is counted then. Inlined, as all that it
/// asks: else the compiler would store the arguments.
template <class Arguments>
[[gnu::always_inline]] inline bool is_given_back(int (run::Runtime::* /*operation*/)(const Arguments&,
                                                                                     const run::Native&),
                                                 const void* site,
                                                 const std::type_identity_t<Arguments>& arguments) {
  if constexpr (run::Comparable<Arguments>) {
    const run::FastPathCalls* const calls = backend().hot.passing_calls.load(std::memory_order_acquire);
    if (calls == nullptr || !may_pass(site) || !backend().hot.leaves_waiting_alone()) return false;
    run::FastPath* const path = calls->of(arguments);
    return path != nullptr && calls->take(*path, run::collective_of<Arguments>);
  }
  return false;
}

/// Has the library perform such a call.
template <class Native>
[[gnu::always_inline]] inline int pass(const Native& native) {
  const Inside inside;
  backend().count_wait();
  const int code = native();
  backend().memory.pass_by();
  backend().finish_abandoned();
  return code;
}

// --- where a record is written

/// What a call is counted by.
struct Counted {
  CommFacts* comm;
  Tallies::Tally* tally;
};

/// One that failed, or that took long. Takes the lock.
void book_as_usual(const Counted& counted, int code, std::uint64_t enter_ns, std::uint64_t leave_ns);

/// Whether the call sends to whom those before sent: the root may be another one.
template <class Arguments>
bool sends_alike(const Arguments& call, const CommFacts& comm, const Sent& sent) {
  if constexpr (requires { call.root; }) {
    const bool is_root = call.root == comm.rank;
    if constexpr (requires { call.op; }) return sent.to == (is_root ? Sent::nobody : call.root);
    else return (sent.to == Sent::others) == is_root;
  } else return true;
}

/// By what the call is counted if the profile wants no more of it; else its tally is nullptr.
template <class Arguments>
[[gnu::always_inline]] inline Counted counted_by(std::uint32_t function, const void* site,
                                                 const Arguments& call, const run::FastPath& path) {
  CommFacts* const comm = backend().record.handles.recent(call.comm);
  if (comm == nullptr || comm->tallies == nullptr || !path.use) return {};
  Tallies::Tally& tally = comm->tallies->of(site, function);
  const bool is_known =
      tally.kind.is(site, function, *path.use, path.bytes) && sends_alike(call, *comm, tally.kind.sent);
  return {comm, is_known && !backend().record.sampling.is_due(function, comm->sequence) ? &tally : nullptr};
}

/// Runs such a call.
template <class Native>
int run_counted(const Counted& counted, const Native& native) {
  const profile::WatchClock& clock = backend().hot.clock;
  const std::uint64_t enter_ns = clock.now_ns();
  const CallKind& kind = counted.tally->kind;
  const int code = run_under_way(profile::under_way(kind.function, kind.site, enter_ns), native);
  const std::uint64_t leave_ns = clock.now_ns();
  if (code != MPI_SUCCESS || clock.knows(enter_ns, leave_ns)) [[unlikely]]
    return book_as_usual(counted, code, enter_ns, leave_ns), code;
  counted.tally->count();
  counted.comm->untimed.add(kind.function);
  ++counted.comm->sequence;
  profile::set_last_call(*backend().hot.record, kind.each.row);
  return code;
}

/// Has the library perform a call that need only be counted, by `native`; false: it is no such call.
template <class Arguments, class Native>
bool passes_counted(int (run::Runtime::* /*operation*/)(const Arguments&, const run::Native&),
                    std::uint32_t function, const void* site,
                    const std::type_identity_t<Arguments>& arguments, const Native& native, int* code) {
  if constexpr (run::Comparable<Arguments>) {
    const run::FastPathCalls* const calls = backend().hot.counted_calls.load(std::memory_order_acquire);
    if (calls == nullptr || inside_mpi() || !backend().hot.leaves_waiting_alone()) return false;
    run::FastPath* const path = calls->of(arguments);
    if (path == nullptr) return false;
    const Counted counted = counted_by(function, site, arguments, *path);
    if (counted.tally == nullptr || !calls->take(*path, run::collective_of<Arguments>)) return false;
    const Inside inside;
    backend().count_wait();
    *code = run_counted(counted, native);
    backend().finish_abandoned();
    return true;
  }
  return false;
}

}  // namespace wherry::interpose
