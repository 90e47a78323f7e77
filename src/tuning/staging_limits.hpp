// How much memory an algorithm may take beside the caller's, and whether a call may have it: the runtime chooses by it,
// `wherry explain` tells it. Pure: the same on all ranks.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/collective.hpp"
#include "topology/placement.hpp"
#include "tuning/candidates.hpp"

namespace wherry::tuning {

/// Calls that are alike. load.bytes: the most that their size class has.
struct Calls {
  Collective collective;
  Limit limit;
  Load load;
};

/// What every rank may use.
struct StagingLimits {
  long long staging_max;    // bytes
  bool host_memory = true;  // else what would be staged is out of the processor's reach
};

/// The one algorithm for irregular all-to-alls in place: both ends of a pair exchange at once.
inline constexpr std::string_view in_place_strategy = "pairwise_xor";

/// Largest block that travels combined in irregular all-to-alls whose blocks have so many bytes on average.
long long combined_limit(long long average_bytes);

/// Staging of blocks of up to `limit` bytes that travel combined: on a rank with so many slots, and at most `items`
/// blocks in the messages of one phase, each led by its size.
constexpr long long combined_bytes(int slots, int items, long long limit) {
  return slots * limit + items * (limit + static_cast<long long>(sizeof(std::uint32_t)));
}

/// Staging that the algorithm may need on any rank.
long long staging_bytes(const AlgorithmCandidate& candidate, const Calls& calls);

/// Whether the algorithm can run: it has the memory, and keeps the order that is asked for.
bool fits(const AlgorithmCandidate& candidate, const Calls& calls, const topology::Placement& placement,
          const StagingLimits& limits);

}  // namespace wherry::tuning
