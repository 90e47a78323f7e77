// One call by one strategy: the schedule, the call's memory and what lies between them.
#pragma once

#include "plan/strategy.hpp"
#include "run/communicator.hpp"
#include "run/staging.hpp"

namespace wherry::run {

/// Largest block that travels combined in irregular calls of this size class.
std::size_t combined_limit(std::uint32_t bucket);

/// Staging that an irregular all-to-all may need on any rank.
std::size_t combined_staging(int most_slots, int size, std::uint32_t bucket);

/// Exchanges c.blocks, all of the same number of bytes. Collective; returns an MPI code.
int perform_uniform(Communicator& c, const plan::Strategy& strategy, Staging& staging);

/// Exchanges c.blocks of any sizes. In place, the strategy must be the pairwise exchange. Collective; returns an MPI code.
int perform_irregular(Communicator& c, const plan::Strategy& strategy, std::uint32_t bucket,
                      Staging& staging);

/// The strategy that perform_irregular() uses in place: both ends of a pair exchange at once.
inline constexpr std::string_view in_place_strategy = "pairwise_xor";

}  // namespace wherry::run
