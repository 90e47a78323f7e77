// What the runtime reports: to the profile, to a test, or to nobody.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "coll/state/cell_key.hpp"
#include "profile/record.hpp"
#include "tuning/controlled_trial.hpp"

namespace wherry::run {

/// Of a collective that does not end in the call that begins it.
enum class Form { nonblocking, persistent, plan };

/// Listener for what happened to replaceable collectives. Calls are local and may come from any thread that
/// calls MPI, but never two at once for one communicator. Implementations must not call MPI collectives.
class Observer {
 public:
  virtual ~Observer() = default;
  /// One call ran by `strategy` ("native"). bytes: sent by this rank.
  virtual void used(MPI_Comm comm, const CellKey& kind, std::string_view strategy, std::uint64_t bytes,
                    std::uint64_t time_ns) = 0;
  /// A number for calls of this kind, which begins() and ran() then tell of; `no_use`: each must be told by used().
  static constexpr std::uint32_t no_use = ~0U;
  virtual std::uint32_t use_of(MPI_Comm, const CellKey& /*kind*/, std::string_view /*strategy*/) {
    return no_use;
  }
  /// Whether the observer takes the times of calls itself, or needs none: nobody else need read a clock for it.
  virtual bool takes_times() const { return false; }
  /// The program's call at hand, of this thread, is a native one of these, of which nothing is read; takes_times().
  virtual void begins(std::uint32_t /*use*/, std::uint64_t /*bytes*/) {}
  /// The program's call at hand was one of these; takes_times().
  virtual void ran(std::uint32_t /*use*/, std::uint64_t /*bytes*/) {}
  /// The ranks of comm agreed on something. Reported on every rank alike.
  virtual void decided(MPI_Comm comm, const CellKey& kind, std::uint32_t call, std::string_view strategy,
                       profile::Reason reason, std::uint64_t time_ns, std::uint64_t native_ns) = 0;
  /// The trial of comm's calls has another pair; of this rank's times.
  virtual void compared(MPI_Comm, const tuning::TrialResult&) {}
  /// A call was native because Wherry does not handle its case.
  virtual void fell_back(Collective collective, std::string_view reason) = 0;
  /// A nonblocking or persistent operation was made, to be performed by `strategy`.
  virtual void made_operation(MPI_Comm, const CellKey& /*kind*/, Form, std::string_view /*strategy*/,
                              std::uint64_t /*bytes*/) {}
  /// Such a call was native because Wherry does not handle its case.
  virtual void not_started(Collective, Form, std::string_view /*reason*/) {}
};

}  // namespace wherry::run
