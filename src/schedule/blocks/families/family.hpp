// What a family of strategies provides, and how a member of it becomes a row of the registry.
//
// A family F has
//   static constexpr Hops hops; static constexpr Pace pace;
//   static Route route(const Placement&, Block);
//   static void visit(const Placement&, int rank, sink): calls sink(Block) once for each block whose route
//     touches the rank. This makes schedules cheap: the derivation (derive()) asks all P^2 blocks.
//   static constexpr bool ranks_alike: every rank's schedule is rank 0's, with the ranks renumbered.
//   static long long transit(const Placement&): no rank has more blocks of others pass through it.
#pragma once

#include <algorithm>
#include <climits>

#include "schedule/blocks/block_builder.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "schedule/requirement.hpp"

namespace wherry::schedule {

/// The blocks that a rank sends and receives.
template <class Sink>
void visit_own(const topology::Placement& placement, int rank, Sink&& sink) {
  for (int peer = 0; peer < placement.size(); ++peer) {
    if (peer == rank) continue;
    sink(Block{rank, peer});
    sink(Block{peer, rank});
  }
}

template <class Family>
Schedule schedule_of(const topology::Placement& placement, int rank) {
  Builder builder(placement.size(), rank, Family::pace);
  Family::visit(placement, rank, [&](Block block) { builder.add(block, Family::route(placement, block)); });
  return builder.finish();
}

/// Up to this size the schedules of all ranks are built to find the one with most slots: milliseconds.
inline constexpr int counted_exactly = 64;

template <class Family>
int most_slots_of(const topology::Placement& placement) {
  const int size = placement.size();
  if (Family::hops == Hops::single) return 0;
  const int ranks = Family::ranks_alike ? 1 : size;
  if (ranks > counted_exactly) {
    // A block takes at most a slot where it lands and one where it is gathered; at its origin and at its
    // destination only one of them. This bound counts on no slot being used twice.
    const long long bound = 2 * Family::transit(placement) + 2LL * (size - 1);
    return static_cast<int>(std::min<long long>(bound, INT_MAX));
  }
  int most = 0;
  for (int rank = 0; rank < ranks; ++rank) most = std::max(most, schedule_of<Family>(placement, rank).slots);
  return most;
}

template <class Family>
constexpr Strategy row(std::string_view name, Applies applies, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .hops = Family::hops,
          .applies = applies.to,
          .schedule = schedule_of<Family>,
          .most_slots = most_slots_of<Family>,
          .route = Family::route,
          .pace = Family::pace,
          .needs = applies.needs};
}

}  // namespace wherry::schedule
