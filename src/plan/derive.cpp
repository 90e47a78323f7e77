#include "plan/derive.hpp"

#include "plan/builder.hpp"

namespace wherry::plan {

Schedule derive(RouteOf route, Pace pace, const Shape& shape, int rank) {
  Builder builder(shape.size(), rank, pace);
  for (int origin = 0; origin < shape.size(); ++origin) {
    for (int destination = 0; destination < shape.size(); ++destination) {
      const Block block{origin, destination};
      if (origin != destination) builder.add(block, route(shape, block));
    }
  }
  return builder.finish();
}

}  // namespace wherry::plan
