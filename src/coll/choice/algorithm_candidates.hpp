// What Wherry could run on the ranks of a communicator, and what the cost model expects of it.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "coll/state/cell_key.hpp"
#include "comm/communicator.hpp"
#include "schedule/registry/algorithm.hpp"
#include "tuning/candidates.hpp"

namespace wherry::run {

using schedule::Algorithm;

/// An algorithm that every rank can run.
struct EstimatedAlgorithm {
  Algorithm algorithm;
  double predicted_s;
  double expected_s;        // the same, should latencies be longer: tuning::expected_seconds()
  long long staging_bytes;  // the most that it may need on any rank
};

/// Traffic is counted once for each placement and collective (of neighborhoods, for each communicator), and estimated
/// for every size and machine. Shared by all communicators of the process; thread-safe. The machine of a communicator
/// must have been settled.
class AlgorithmCandidates {
 public:
  /// The algorithms of such calls that apply to the ranks of c and keep to their agreement; the same on all ranks.
  /// staging_max: bytes.
  std::vector<EstimatedAlgorithm> of(const Communicator& c, const CellKey& key, std::size_t staging_max);
  std::vector<EstimatedAlgorithm> of(const Communicator& c, const CellKey& key) {
    return of(c, key, c.agreement().staging_max);
  }
  /// Bytes of staging that the algorithm may need on any rank for such calls, cut at whole units only.
  long long staging_bytes(const Communicator& c, const CellKey& key, const Algorithm& algorithm,
                          long long unit_bytes);
  /// The strategy of that name, or why it cannot be used.
  std::pair<std::optional<Algorithm>, std::string_view> named(const Communicator& c, const CellKey& key,
                                                              std::string_view name);

 private:
  // A placement, and the segment collective or none.
  using Topic = std::tuple<int, unsigned long long, std::optional<schedule::Operation>>;

  const std::vector<tuning::AlgorithmCandidate>& counted(const Communicator& c, const CellKey& key);

  std::mutex mutex_;
  std::map<Topic, std::vector<tuning::AlgorithmCandidate>> counted_;
};

}  // namespace wherry::run
