// What could run in a neighbourhood, and what the cost model expects of it. Pure: the same on all ranks.
#pragma once

#include <vector>

#include "choose/offers.hpp"
#include "plan/neighbours/graph.hpp"

namespace wherry::choose {

/// Everything that applies to the graph, in the registry's order.
std::vector<Offer> survey(const plan::Graph& graph, const plan::Shape& shape);

/// Whether a strategy may win anything: few messages that stay on their nodes are best left to the library.
bool is_promising(const plan::Graph& graph, const plan::Shape& shape);

}  // namespace wherry::choose
