// From a nonblocking or persistent call to its operation: what performs it, and how.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "coll/blocking.hpp"
#include "coll/choice/context.hpp"
#include "coll/choice/description.hpp"
#include "coll/choice/read.hpp"
#include "coll/neighborhood/neighborhood_collectives.hpp"
#include "coll/state/task.hpp"
#include "progress/persistent.hpp"
#include "progress/progress.hpp"

namespace wherry::run {

/// A call of whatever collective, for code that is the same for all.
struct AnyCall {
  Collective collective;
  MPI_Comm comm;
  /// Reads the arguments; false: the library should perform the call, or validate it.
  std::function<bool(const Communicator&, Arguments&)> read;
  /// Whether this rank's arguments are legal as far as Wherry looks at them.
  std::function<bool()> is_sound;
};

/// api and call must outlive the result.
template <class Call>
AnyCall any_call(const mpi::Api& api, const Call& call) {
  return {
      collective_of<Call>, call.comm,
      [&](const Communicator& c, Arguments& to) { return read_work(api, call, c, to.blocks, to.segments); },
      [&] { return is_valid(api, call); }};
}

template <Neighborly Call>
AnyCall any_call(const mpi::Api& api, const Call& call) {
  return {collective_of<Call>, call.comm,
          [&](const Communicator& c, Arguments& to) { return read_joined(api, call, c, to); },
          [&] { return is_sound(api, call); }};
}

/// Sees to it that the calls under way progress. Returns why that cannot be; empty: somebody does it.
using Wake = std::function<std::string_view()>;

/// Starts nonblocking and persistent collectives and plans. Thread-safe as MPI lets threads share communicators.
class OperationFactory {
 public:
  explicit OperationFactory(const RuntimeContext& context) : context_(context) {}

  /// What progresses the nonblocking operations. Until it is known, everything is native.
  void drive(Wake wake) { wake_ = std::move(wake); }

  /// Starts a nonblocking call, or `native`. Local: it waits for no other rank.
  int start(const AnyCall& call, const Native& native, MPI_Request* request);

  /// Makes a persistent call, or `native`. Collective: the first on a communicator may wait for all ranks.
  int init(const AnyCall& call, const Native& native, MPI_Request* request);
  /// The library has started these requests: progresses those of init(). Local.
  void started(std::span<const MPI_Request> requests);
  bool is_ours(MPI_Request request) { return made_here(request) != nullptr; }
  /// The program frees the request. The result keeps what belongs to it, for as long as the library may ask.
  std::shared_ptr<const void> forget(MPI_Request request);

  /// The call with its arguments fixed; nullptr: the library must perform it. As init().
  std::shared_ptr<Plan> plan(const AnyCall& call);
  /// Starts an execution of it; none may be under way. Returns an MPI code. Local.
  int start(const std::shared_ptr<Plan>& plan);
  /// Whether no execution of it is under way; lets the library and Wherry go on. Not from inside the library.
  bool is_over(const Plan& plan);

  Progress& progress() { return progress_; }
  /// Nothing is started from now on; what is under way is left as it is.
  void finish();

 private:
  static constexpr std::string_view nobody_goes_on = "the MPI library lets nobody take part in its progress";

  bool is_on(Form form) const;
  void left(const AnyCall& call, Form form, std::string_view reason) const;
  std::string_view why_not(const AnyCall& call, const NonblockingOperation& made, Form form) const;
  std::uint32_t irregular_bucket(const AnyCall& call, const NonblockingOperation& made,
                                 long long average_bytes, Form form) const;
  std::uint32_t bucket(const AnyCall& call, const NonblockingOperation& made, Form form) const;
  Described describe(const AnyCall& call, const NonblockingOperation& made, Form form) const;
  std::optional<Algorithm> algorithm_for(const AnyCall& call, const NonblockingOperation& made,
                                         const CellKey& key, Form form) const;
  std::optional<Described> prepare(const AnyCall& call, NonblockingOperation& made, Form form) const;
  void report(const AnyCall& call, const NonblockingOperation& made, const Described& described,
              Form form) const;
  template <class Made>
  std::shared_ptr<Made> lasting(const AnyCall& call, Form form);
  std::shared_ptr<Persistent> made_here(MPI_Request request);
  int begin(std::shared_ptr<NonblockingOperation> call);

  const RuntimeContext& context_;
  Wake wake_;
  Progress progress_;
  std::atomic<bool> finished_ = false;
  std::mutex mutex_;  // guards persistent_
  std::map<MPI_Request, std::shared_ptr<Persistent>> persistent_;
};

}  // namespace wherry::run
