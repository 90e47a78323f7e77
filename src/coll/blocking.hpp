// Blocking calls that have been read: which algorithm performs them, how long that took, and what is reported.
#pragma once

#include <functional>
#include <optional>

#include "base/floating_point.hpp"
#include "coll/choice/context.hpp"
#include "coll/choice/description.hpp"
#include "coll/state/choices.hpp"
#include "coll/state/task.hpp"

namespace wherry::run {

/// The native form of the same call; returns its code.
using Native = std::function<int()>;

/// Reads the clock only if wanted: that takes longer than all else that a native call costs.
class CallTimer {
 public:
  /// now: seconds.
  CallTimer(double (*now)(), bool wanted) : now_(wanted ? now : nullptr), start_(wanted ? now() : 0) {}
  bool is_wanted() const { return now_ != nullptr; }
  /// Since it was made; 0 if nobody wants to know.
  double seconds() const {
    return now_ != nullptr ? computed([this] { return now_() - start_; }) : 0;
  }

 private:
  double (*now_)();
  double start_;
};

/// Collective over the communicator of a call. Thread-safe as MPI lets threads share communicators.
class Running {
 public:
  explicit Running(const RuntimeContext& context) : context_(context) {}

  /// What an all-to-all is like. Irregular ones agree on a size class now and then.
  Described describe_exchange(Communicator& c, Collective collective, const Blocks& blocks) const;

  /// Runs the call with these arguments, by a strategy or natively. reading_s: seconds that the reading of its
  /// arguments took, where native calls are spared it; they count as a strategy's. Returns an MPI code, which the
  /// handler of comm has seen.
  int run(Communicator& c, MPI_Comm comm, const Described& call, Arguments& arguments, const Native& native,
          double reading_s = 0) const;
  /// A native call, as far as the record is concerned.
  int run_native(MPI_Comm comm, const CellKey& key, std::uint64_t bytes, const Native& native) const;

 private:
  std::uint32_t bucket(Communicator& c, Collective collective, const Blocks& blocks) const;
  std::optional<Algorithm> asked_for(Communicator& c, const CellKey& key, const Instruction& asked) const;
  void report_use(MPI_Comm comm, const CellKey& key, std::string_view name, std::uint64_t bytes,
                  const CallTimer& watch, double took) const;
  /// Whether whoever observes needs the time of a call from here.
  bool is_timed_for_observer() const {
    return context_.observer != nullptr && !context_.observer->takes_times();
  }
  void report_decisions(MPI_Comm comm, const CellKey& key, tuning::Learner& learner) const;
  void report_trial(MPI_Comm comm, tuning::ControlledTrial& trial) const;

  const RuntimeContext& context_;
};

}  // namespace wherry::run
