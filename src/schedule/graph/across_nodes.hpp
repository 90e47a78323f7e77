// Across nodes: what the ranks of one node have for those of another travels in one message.
#pragma once

#include <set>
#include <utility>

#include "schedule/blocks/families/nodes.hpp"
#include "schedule/graph/neighborhood_strategy.hpp"

namespace wherry::schedule {

/// Whether two edges lead from one node to the same other one.
inline bool has_parallel_edges(const Graph& graph, const topology::Placement& placement) {
  std::set<std::pair<int, int>> seen;
  for (const Block& edge : graph.edges()) {
    const std::pair nodes{placement.node_of(edge.origin), placement.node_of(edge.destination)};
    if (nodes.first != nodes.second && !seen.insert(nodes).second) return true;
  }
  return false;
}

/// The routes of the all-to-all in which `server` names the rank of a node that serves another.
template <ServerOf server>
RouteOfEdge across_nodes(const Graph& graph, const topology::Placement& placement) {
  if (!has_parallel_edges(graph, placement)) return {};
  return [&placement](Block edge, int) { return Nodes<server>::route(placement, edge); };
}

}  // namespace wherry::schedule
