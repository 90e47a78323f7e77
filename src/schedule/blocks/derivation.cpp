#include "schedule/blocks/derivation.hpp"

#include "schedule/blocks/block_builder.hpp"

namespace wherry::schedule {

Schedule derive(RouteOf route, Pace pace, const topology::Placement& placement, int rank) {
  Builder builder(placement.size(), rank, pace);
  for (int origin = 0; origin < placement.size(); ++origin) {
    for (int destination = 0; destination < placement.size(); ++destination) {
      const Block block{origin, destination};
      if (origin != destination) builder.add(block, route(placement, block));
    }
  }
  return builder.finish();
}

}  // namespace wherry::schedule
