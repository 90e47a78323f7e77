// The registry of strategies that move blocks: of all-to-alls, which are neighborhood collectives of the complete
// graph, and of those of other graphs. A table that can be read (schedule/registry/block_strategies.cpp).
#pragma once

#include <ranges>
#include <span>
#include <string>
#include <string_view>

#include "schedule/blocks/route.hpp"
#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

class Graph;

/// How many messages carry a block: `single` strategies move every block in a message of
/// its own from origin to destination, so they need no staging and no knowledge of sizes.
enum class Hops { single, several };

/// How a strategy moves the blocks of any graph. The default: it does not.
struct OnGraph {
  /// Looks at the whole graph once; what it returns refers to graph and placement. Empty where the strategy makes no
  /// sense.
  RouteOfEdge (*routes)(const Graph& graph, const topology::Placement& placement) = nullptr;
  std::string_view needs = "";  // what routes() asks for: "any graph"
};

/// One algorithm that moves blocks.
///
/// On the complete graph a strategy has closed forms, which look at no more than the blocks that a rank handles; they
/// are empty if it is for other graphs only.
struct Strategy {
  std::string_view name;     // as users write it: "mesh", "bruck4", "pairwise_xor"
  std::string_view summary;  // one line for `wherry explain`
  Hops hops;
  bool (*applies)(const topology::Placement&) = nullptr;
  Schedule (*schedule)(const topology::Placement&, int rank) = nullptr;
  int (*most_slots)(const topology::Placement&) = nullptr;  // no rank's Schedule::slots is larger; cheap
  RouteOf route = nullptr;                                  // the strategy itself; the rest follows from it
  Pace pace = in_phases;        // how the phases of its routes become phases of schedules
  std::string_view needs = "";  // what applies() asks for: "at least 4 ranks"
  OnGraph on_graph = {};

  bool is_for_alltoalls() const { return schedule != nullptr; }
  bool is_for_graphs() const { return on_graph.routes != nullptr; }
};

/// All of them, in a fixed order. Index into this span is stable within one build only.
std::span<const Strategy> block_strategies();

/// Those of all-to-alls, in the same order.
inline auto strategies() { return block_strategies() | std::views::filter(&Strategy::is_for_alltoalls); }

/// Those of neighborhood collectives, in the same order.
inline auto neighborhood_strategies() {
  return block_strategies() | std::views::filter(&Strategy::is_for_graphs);
}

/// The strategy for all-to-alls of that name, or nullptr.
const Strategy* find_strategy(std::string_view name);

/// The strategy for neighborhood collectives of that name, or nullptr.
const Strategy* find_neighborhood_strategy(std::string_view name);

/// The known name of an all-to-all's strategy that is nearest to an unknown one, for error messages; empty if none is
/// near.
std::string_view nearest_strategy(std::string_view name);

}  // namespace wherry::schedule
