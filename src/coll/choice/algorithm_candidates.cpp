#include "coll/choice/algorithm_candidates.hpp"

#include <algorithm>
#include <climits>

#include "base/floating_point.hpp"
#include "coll/state/choices.hpp"
#include "coll/state/neighborhood.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "tuning/staging_limits.hpp"

namespace wherry::run {

namespace {

tuning::Load load_of(const Communicator& c, const CellKey& key) { return {c.size(), largest(key)}; }

}  // namespace

/// Communicators of one placement share the counting.
const std::vector<tuning::AlgorithmCandidate>& AlgorithmCandidates::counted(const Communicator& c,
                                                                            const CellKey& key) {
  if (is_neighborhood(key.collective)) return neighborhood_of(c)->candidates();
  const std::optional<schedule::Operation> operation = schedule::segment_operation(key.collective);
  const std::lock_guard lock(mutex_);
  std::vector<tuning::AlgorithmCandidate>& known = counted_[{c.size(), c.placement().signature(), operation}];
  if (known.empty()) known = tuning::survey(c.placement(), operation);
  return known;  // entries of a map stay where they are
}

std::vector<EstimatedAlgorithm> AlgorithmCandidates::of(const Communicator& c, const CellKey& key,
                                                        std::size_t staging_max) {
  const OwnArithmetic arithmetic;
  const tuning::Calls calls{key.collective, key.limit, load_of(c, key)};
  const tuning::StagingLimits capacity{static_cast<long long>(staging_max), c.agreement().host_memory};
  const tuning::Allowed allowed = [&](const tuning::AlgorithmCandidate& candidate) {
    return tuning::fits(candidate, calls, c.placement(), capacity);
  };
  const model::Machine machine = machine_of(c);
  const std::vector<tuning::Estimate> estimates =
      tuning::estimates(counted(c, key), calls.load, machine, allowed);
  const std::vector<double> expected = tuning::expected_seconds(estimates, calls.load, machine);
  std::vector<EstimatedAlgorithm> all;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const tuning::AlgorithmCandidate& candidate = *estimates[i].candidate;
    all.push_back({candidate.algorithm, estimates[i].cost.seconds, expected[i],
                   tuning::staging_bytes(candidate, calls)});
  }
  return all;
}

long long AlgorithmCandidates::staging_bytes(const Communicator& c, const CellKey& key,
                                             const Algorithm& algorithm, long long unit_bytes) {
  const OwnArithmetic arithmetic;
  tuning::Calls calls{key.collective, key.limit, load_of(c, key)};
  calls.load.unit_bytes = unit_bytes;
  const std::vector<tuning::AlgorithmCandidate>& all = counted(c, key);
  const auto found = std::ranges::find(all, algorithm, &tuning::AlgorithmCandidate::algorithm);
  return found == all.end() ? LLONG_MAX : tuning::staging_bytes(*found, calls);
}

std::pair<std::optional<Algorithm>, std::string_view> AlgorithmCandidates::named(const Communicator& c,
                                                                                 const CellKey& key,
                                                                                 std::string_view name) {
  const OwnArithmetic arithmetic;
  const auto is_named = [=](const auto& estimated) { return estimated.algorithm.name() == name; };
  const std::vector<EstimatedAlgorithm> possible = of(c, key);
  if (const auto found = std::ranges::find_if(possible, is_named); found != possible.end())
    return {found->algorithm, ""};
  const bool applies = std::ranges::any_of(counted(c, key), is_named);
  return {std::nullopt,
          applies ? "the strategy asked for needs more staging than allowed, host memory or another order"
                  : "the strategy asked for does not exist or does not apply to these ranks"};
}

}  // namespace wherry::run
