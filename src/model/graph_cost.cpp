#include "model/graph_cost.hpp"

namespace wherry::model {

Traffic traffic(const schedule::Routed& routed, const topology::Placement& placement) {
  const Counting counting = placement.size() <= priced_exactly ? Counting::exact : Counting::sampled;
  const auto count = [&](int rank) { return count_phases(routed.schedule(rank), placement); };
  return {.nodes = count_nodes(placement, counting, count), .most_slots = routed.most_slots()};
}

}  // namespace wherry::model
