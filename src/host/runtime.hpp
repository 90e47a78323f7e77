// The runtime: collectives that pick and execute a schedule, or fall back to the native call.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/calls.hpp"
#include "base/settings.hpp"
#include "coll/choice/observer.hpp"
#include "comm/recent_communicators.hpp"
#include "model/cost.hpp"
#include "mpi/api.hpp"
#include "progress/factory.hpp"

namespace wherry::run {

struct SparseExchange;  // host/sparse_call.hpp
class FastPathCalls;    // coll/fast_path.hpp

/// Seconds of a clock that is never set back.
double steady_seconds();

class AlgorithmCandidates;

/// What a runtime takes from where it runs. The defaults are right for a process that is a rank.
struct Environment {
  double (*now)() = steady_seconds;  // the clock by which it learns
  std::shared_ptr<AlgorithmCandidates> candidates =
      nullptr;  // for ranks that share a process, as in simulations: to share these too
  std::optional<model::Machine> simulated =
      std::nullopt;  // the machine of a simulation: its clock is exact, and its figures are known
  CallsWhileFreed while_freed = CallsWhileFreed::come;
};

/// Everything Wherry keeps in one process: settings, what was learned, and communicator state.
///
/// The collectives may be called from several threads as MPI allows (not at once on one communicator). They are
/// collective over comm and return MPI codes; an error that arises in Wherry's own messages has been passed to
/// comm's error handler. Each call runs `native` or a schedule; all ranks run the same.
class Runtime {
 public:
  /// observer may be nullptr; both references must outlive the runtime.
  Runtime(const Settings& settings, const mpi::Api& api, Observer* observer,
          const Environment& environment = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // int alltoall(const Alltoall& call, const Native& native), and so on.
#define COLLECTIVE(value, name, nonblocking, arguments, variable) \
  int value(const arguments& call, const Native& native);
#include "collectives.inc"
#undef COLLECTIVE

  /// *ran: the strategy's name, or "native".
  int sparse_exchange(const SparseExchange& call, std::string_view* ran);

  /// The nonblocking form of a collective: Wherry's, with a native request, or `native`. Call: any of
  /// arguments/calls.hpp. Local: it waits for no other rank.
  template <class Call>
  int start(const Call& call, const Native& native, MPI_Request* request) {
    return factory().start(any_call(api(), call), native, request);
  }
  /// The persistent form: the request is Wherry's if factory().is_ours() says so, or `native` made it.
  template <class Call>
  int init(const Call& call, const Native& native, MPI_Request* request) {
    return factory().init(any_call(api(), call), native, request);
  }
  /// The collective with its arguments fixed; nullptr: the library must perform it. Its operation must outlive it.
  template <class Call>
  std::shared_ptr<Plan> plan(const Call& call) {
    return factory().plan(any_call(api(), call));
  }
  /// Which calls are native with nothing looked up for them. Who makes such a call need not tell the runtime of it.
  const FastPathCalls& fast_path_calls() const;
  /// Forms that do not end in the call that begins them, and what progresses them.
  OperationFactory& factory();

  /// Progresses the nonblocking operations. How many calls have ended by this. Thread-safe, and safe inside calls of the
  /// library.
  int advance();
  bool is_idle() const;

  /// How the next calls choose: a strategy's name or "native" instead of the settings, or "auto" for the settings
  /// again.
  /// Local, but must be given alike on all ranks. Returns false if the name is unknown.
  bool force(std::string_view name);

  /// Completes what is under way and frees Wherry's communicators, before MPI_Finalize. Collective over every
  /// communicator that Wherry used. Saves what was learned. Calls after it are native.
  void finalize();

 private:
  const mpi::Api& api() const;

  struct State;
  std::unique_ptr<State> state_;
};

// Settings that name unknown strategies.

/// For each: the variable, the nearest name, and what happens.
std::vector<std::string> unknown_settings(const Settings& settings);

}  // namespace wherry::run
