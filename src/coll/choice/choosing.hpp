// From a call to the strategy that runs it: what may be used, what is learned, what was learned before.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "coll/choice/algorithm_candidates.hpp"
#include "coll/state/choices.hpp"
#include "comm/staging.hpp"
#include "tuning/trial_budget.hpp"
#include "tuning/tuning_store.hpp"

namespace wherry::run {

/// What a call may take that asks no other rank.
struct Limits {
  std::size_t staging_max;   // bytes, on every rank
  long long unit_bytes = 1;  // of the call's data, which may not be cut
};

/// The candidates of calls, and the tuning file. Shared by all communicators of the process; thread-safe.
/// simulated: a machine whose figures are known and whose clock is exact, so trials are not limited. now: seconds.
class Choosing {
 public:
  Choosing(const Settings& settings, const mpi::Api& api, std::shared_ptr<AlgorithmCandidates> candidates,
           Staging& staging, const std::optional<model::Machine>& simulated, double (*now)());

  /// What is learned about such calls; made at the first one (collective over c). root: of this one.
  Choice& choice(Communicator& c, const CellKey& key, int root);
  /// The best algorithm known for such calls within these limits, without asking other ranks: what has been learned,
  /// else what the model expects. None: native.
  std::optional<Algorithm> best_without_asking(Communicator& c, const CellKey& key, const Limits& limits);
  /// The algorithm of that name, or why it cannot run. Collective over c, at the first call.
  std::pair<std::optional<Algorithm>, std::string_view> named(Communicator& c, const CellKey& key,
                                                              std::string_view name);
  /// The same within these limits, without asking other ranks: pipelines may be of another depth, alike on all ranks.
  std::pair<std::optional<Algorithm>, std::string_view> named_without_asking(const Communicator& c,
                                                                             const CellKey& key,
                                                                             std::string_view name,
                                                                             const Limits& limits);

  /// Makes sure of so much staging on every rank, for blocking calls. False, alike on all ranks: one has not got it,
  /// and algorithms that need more than is reserved are no longer candidates in c. Collective over c where more is
  /// asked for than before.
  bool reserve(Communicator& c, long long bytes);

  /// Settles what the calls of c are estimated by. Collective over c, the first time.
  void settle_machine(Communicator& c);

  /// Keeps what the ranks of c learned; its rank 0 does so for all.
  void note(Communicator& c);
  /// Adds what was noted to the tuning file.
  void save();

 private:
  /// Some algorithms, and those of them that may be tried.
  struct Shortlist {
    std::vector<EstimatedAlgorithm> estimated;
    std::vector<tuning::Candidate> candidates;
  };

  /// A simulated machine's constants are exact.
  double expected_seconds(const EstimatedAlgorithm& estimate) const {
    return simulated_ ? estimate.predicted_s : estimate.expected_s;
  }
  bool is_within(const Communicator& c, const CellKey& key, const Algorithm& algorithm, const Limits& limits);
  Shortlist shortlist(Communicator& c, const CellKey& key);
  std::unique_ptr<Choice> first_choice(Communicator& c, const CellKey& key, int root);
  tuning::Learner learner(Communicator& c, const CellKey& key, std::vector<tuning::Candidate> list);
  tuning::TuningKey tuning_key(Communicator& c, const CellKey& key) const;
  const tuning::TuningTable& tuning_table();

  const Settings& settings_;
  const mpi::Api& api_;
  const std::string machine_, library_;

  const std::shared_ptr<AlgorithmCandidates> candidates_;
  Staging& staging_;
  const std::optional<model::Machine> simulated_;
  double (*const now_)();
  tuning::TrialBudget budget_;

  std::mutex mutex_;  // guards what follows
  bool loaded_ = false;
  tuning::TuningTable known_;    // what the file said; does not change once it was read
  tuning::TuningTable learned_;  // what this process has to add
};

}  // namespace wherry::run
