#include "schedule/graph/routed.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "schedule/blocks/block_builder.hpp"
#include "schedule/blocks/block_verify.hpp"

namespace wherry::schedule {

Routed::Routed(const Strategy& strategy, const Graph& graph, const topology::Placement& placement)
    : graph_(graph), placement_(placement), route_(strategy.on_graph.routes(graph, placement)) {
  if (!route_) return;
  touching_.resize(static_cast<std::size_t>(graph.size()));
  int number = 0;
  for (const Block& edge : graph.edges()) {
    touching_[static_cast<std::size_t>(edge.origin)].push_back(number);
    for (const Hop& hop : route_(edge, number)) touching_[static_cast<std::size_t>(hop.to)].push_back(number);
    ++number;
  }
  // A block takes at most a slot where it lands and one where it is gathered.
  if (strategy.hops == Hops::several)
    most_slots_ =
        2 * static_cast<int>(std::ranges::max_element(touching_, {}, &std::vector<int>::size)->size());
}

Schedule Routed::schedule(int rank) const {
  Builder builder(graph_.size(), rank, in_phases);
  for (const int number : touching_[static_cast<std::size_t>(rank)]) {
    const Block edge = graph_.edges()[static_cast<std::size_t>(number)];
    builder.add(edge, route_(edge, number));
  }
  return builder.finish();
}

std::vector<Schedule> Routed::schedules() const {
  std::vector<Schedule> all;
  for (int rank = 0; rank < graph_.size(); ++rank) all.push_back(schedule(rank));
  return all;
}

void verify(const Routed& routed, const Graph& graph) {
  const std::vector<Schedule> all = routed.schedules();
  verify(all, [&graph](Block block) { return graph.has(block); });
  for (const Schedule& s : all)
    if (s.slots > routed.most_slots())
      throw schedule_error("rank " + std::to_string(s.rank) + " uses " + std::to_string(s.slots) +
                           " slots, of at most " + std::to_string(routed.most_slots()));
}

}  // namespace wherry::schedule
