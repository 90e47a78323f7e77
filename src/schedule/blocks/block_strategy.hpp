// The registry of strategies for personalized all-to-all: a table that can be read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "schedule/blocks/route.hpp"
#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

/// How many messages carry a block: `single` strategies move every block in a message of
/// its own from origin to destination, so they need no staging and no knowledge of sizes.
enum class Hops { single, several };

/// One algorithm of a personalized all-to-all.
struct Strategy {
  std::string_view name;     // as users write it: "mesh", "bruck4", "pairwise_xor"
  std::string_view summary;  // one line for `wherry explain`
  Hops hops;
  bool (*applies)(const topology::Placement&);
  Schedule (*schedule)(const topology::Placement&, int rank);  // closed form: O(blocks this rank handles)
  int (*most_slots)(
      const topology::Placement&);  // no rank's Schedule::slots is larger; cheap enough to choose by
  RouteOf route;                    // the strategy itself; the rest follows from it
  Pace pace;                        // how the phases of its routes become phases of schedules
  std::string_view needs;           // what applies() asks for: "at least 4 ranks"
};

/// All strategies, in a fixed order. Index into this span is stable within one build only.
std::span<const Strategy> strategies();

/// The strategy of that name, or nullptr.
const Strategy* find_strategy(std::string_view name);

/// The known name that is nearest to an unknown one, for error messages; empty if none is near.
std::string_view nearest_strategy(std::string_view name);

}  // namespace wherry::schedule
