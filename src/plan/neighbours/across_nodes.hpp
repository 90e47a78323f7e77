// Across nodes: what the ranks of one node have for those of another travels in one message.
#pragma once

#include <set>
#include <utility>

#include "plan/families/nodes.hpp"
#include "plan/neighbours/strategy.hpp"

namespace wherry::plan {

/// Whether two edges lead from one node to the same other one.
inline bool has_parallel_edges(const Graph& graph, const Shape& shape) {
  std::set<std::pair<int, int>> seen;
  for (const Block& edge : graph.edges()) {
    const std::pair nodes{shape.node_of(edge.origin), shape.node_of(edge.destination)};
    if (nodes.first != nodes.second && !seen.insert(nodes).second) return true;
  }
  return false;
}

/// The routes of the all-to-all in which `server` names the rank of a node that serves another.
template <ServerOf server>
RouteOfEdge across_nodes(const Graph& graph, const Shape& shape) {
  if (!has_parallel_edges(graph, shape)) return {};
  return [&shape](Block edge, int) { return Nodes<server>::route(shape, edge); };
}

}  // namespace wherry::plan
