#include "tuning/staging_limits.hpp"

#include <algorithm>
#include <climits>

namespace wherry::tuning {
namespace {

// Larger blocks, or buffers, are native.
constexpr long long most_bytes = 1LL << 30;

bool is_uniform(const Calls& calls) { return calls.collective == Collective::alltoall; }

/// Staging of what travels straight from and to the caller's memory is none.
bool stages(const schedule::Strategy& strategy, const Calls& calls) {
  return strategy.hops == schedule::Hops::several || calls.limit == Limit::in_place;
}

bool is_within(const AlgorithmCandidate& candidate, const Calls& calls, const StagingLimits& limits) {
  return limits.host_memory && calls.load.bytes <= most_bytes &&
         staging_bytes(candidate, calls) <= limits.staging_max;
}

bool blocks_fit(const AlgorithmCandidate& candidate, const schedule::Strategy& strategy, const Calls& calls,
                const StagingLimits& limits) {
  const bool irregular = !is_uniform(calls) && !is_neighborhood(calls.collective);
  if (irregular && calls.limit == Limit::in_place) return strategy.name == in_place_strategy;
  // Bytes of a message are ints to MPI.
  const StagingLimits within{std::min<long long>(limits.staging_max, INT_MAX), limits.host_memory};
  return !stages(strategy, calls) || is_within(candidate, calls, within);
}

long long block_staging(const AlgorithmCandidate& candidate, const schedule::Strategy& strategy,
                        const Calls& calls) {
  if (!stages(strategy, calls)) return 0;
  const int slots = candidate.traffic.most_slots, ranks = calls.load.ranks;
  if (!is_uniform(calls)) {
    // An edge's block is in one message of a phase; of an all-to-all, those that begin and end here travel as well.
    const int items = is_neighborhood(calls.collective) ? slots : 2 * (slots + ranks);
    return combined_bytes(slots, items, combined_limit(calls.load.bytes));
  }
  // In place the data to send is copied as well.
  const long long copied = calls.limit == Limit::in_place ? ranks * calls.load.bytes : 0;
  return staging_bytes(candidate, calls.load) + copied;
}

}  // namespace

long long combined_limit(long long average_bytes) {
  // Four times the average: a moderately uneven call stays combined; a multiple of 4 keeps messages aligned.
  constexpr long long least = 256, most = 64 << 10;
  return std::clamp(4 * std::min(average_bytes, most), least, most);
}

long long staging_bytes(const AlgorithmCandidate& candidate, const Calls& calls) {
  return candidate.algorithm.visit(
      [&](const schedule::Strategy& s) { return block_staging(candidate, s, calls); },
      [&](const schedule::SegmentStrategy&, int) { return staging_bytes(candidate, calls.load); });
}

bool fits(const AlgorithmCandidate& candidate, const Calls& calls, const topology::Placement& placement,
          const StagingLimits& limits) {
  return candidate.algorithm.visit(
      [&](const schedule::Strategy& s) { return blocks_fit(candidate, s, calls, limits); },
      [&](const schedule::SegmentStrategy& s, int) {
        const bool in_order = calls.limit != Limit::in_order || s.keeps_order(placement);
        return in_order && is_within(candidate, calls, limits);
      });
}

}  // namespace wherry::tuning
