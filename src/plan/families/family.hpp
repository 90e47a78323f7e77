// What a family of strategies provides, and how a member of it becomes a row of the registry.
//
// A family F has
//   static constexpr Hops hops; static constexpr Pace pace;
//   static Route route(const Shape&, Block);
//   static void visit(const Shape&, int rank, sink): calls sink(Block) once for each block whose route
//     touches the rank. This makes schedules cheap: the derivation (derive.hpp) asks all P^2 blocks.
//   static constexpr bool ranks_alike: every rank's schedule is rank 0's, with the ranks renumbered.
//   static long long transit(const Shape&): no rank has more blocks of others pass through it.
#pragma once

#include <algorithm>
#include <climits>

#include "plan/applies.hpp"
#include "plan/builder.hpp"
#include "plan/strategy.hpp"

namespace wherry::plan {

template <class Family>
Schedule schedule_of(const Shape& shape, int rank) {
  Builder builder(shape.size(), rank, Family::pace);
  Family::visit(shape, rank, [&](Block block) { builder.add(block, Family::route(shape, block)); });
  return builder.finish();
}

/// Up to this size the schedules of all ranks are built to find the one with most slots: milliseconds.
inline constexpr int counted_exactly = 64;

template <class Family>
int most_slots_of(const Shape& shape) {
  const int size = shape.size();
  if (Family::hops == Hops::single) return 0;
  const int ranks = Family::ranks_alike ? 1 : size;
  if (ranks > counted_exactly) {
    // A block takes at most a slot where it lands and one where it is gathered; at its origin and at its
    // destination only one of them. This bound counts on no slot being used twice.
    const long long bound = 2 * Family::transit(shape) + 2LL * (size - 1);
    return static_cast<int>(std::min<long long>(bound, INT_MAX));
  }
  int most = 0;
  for (int rank = 0; rank < ranks; ++rank) most = std::max(most, schedule_of<Family>(shape, rank).slots);
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

}  // namespace wherry::plan
