#include "plan/neighbours/routed.hpp"

#include <algorithm>

#include "plan/builder.hpp"

namespace wherry::plan {

Routed::Routed(const NeighbourStrategy& strategy, const Graph& graph, const Shape& shape)
    : graph_(graph), shape_(shape), route_(strategy.routes(graph, shape)) {
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

Traffic Routed::traffic() const {
  const Counting counting = shape_.size() <= priced_exactly ? Counting::exact : Counting::sampled;
  return {
      .nodes = count_nodes(shape_, counting, [&](int rank) { return count_phases(schedule(rank), shape_); }),
      .most_slots = most_slots_};
}

}  // namespace wherry::plan
