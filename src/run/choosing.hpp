// From a call to the strategy that runs it: what may be used, what is learned, what was learned before.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "choose/shortlist.hpp"
#include "choose/tuning.hpp"
#include "run/communicator.hpp"

namespace wherry::run {

/// Blocks of the size class of `key` have at most so many bytes.
long long largest_block(const CellKey& key);

/// The candidates of calls, and the tuning file. Shared by all communicators of the process; thread-safe.
class Choosing {
 public:
  Choosing(const Settings& settings, const mpi::Api& api);

  /// The learner of such calls; made at the first one (collective over c).
  Cell& cell(Communicator& c, const CellKey& key);
  /// The same strategy, or nullptr and why it cannot be used.
  std::pair<const plan::Strategy*, std::string_view> named(Communicator& c, const CellKey& key,
                                                           const plan::Strategy* strategy);

  /// Keeps what the ranks of c learned; its rank 0 does so for all.
  void note(Communicator& c);
  /// Adds what was noted to the tuning file.
  void save();

 private:
  const std::vector<choose::Offer>& offers(const Communicator& c);
  choose::Learner learner(Communicator& c, const CellKey& key);
  choose::TuningKey tuning_key(Communicator& c, const CellKey& key) const;
  const choose::TuningRow* remembered(const choose::TuningKey& key);

  const Settings& settings_;
  const mpi::Api& api_;
  const std::string machine_, library_;

  std::mutex mutex_;                                                                  // guards what follows
  std::map<std::pair<int, unsigned long long>, std::vector<choose::Offer>> surveys_;  // by size and placement
  bool loaded_ = false;
  choose::TuningTable known_;    // what the file said
  choose::TuningTable learned_;  // what this process has to add
};

}  // namespace wherry::run
