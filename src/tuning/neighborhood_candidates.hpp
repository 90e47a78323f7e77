// What could run in a neighborhood, and what the cost model expects of it. Pure: the same on all ranks.
#pragma once

#include <vector>

#include "schedule/graph/graph.hpp"
#include "tuning/candidates.hpp"

namespace wherry::tuning {

/// Everything that applies to the graph, in the registry's order.
std::vector<AlgorithmCandidate> survey(const schedule::Graph& graph, const topology::Placement& placement);

/// Whether a strategy may win anything: few messages that stay on their nodes are best left to the library.
bool is_promising(const schedule::Graph& graph, const topology::Placement& placement);

}  // namespace wherry::tuning
