#include "plan/segments/cost.hpp"

#include <algorithm>

#include "plan/segments/layout.hpp"

namespace wherry::plan {
namespace {

PhaseTraffic count_phase(const SegmentSchedule& s, std::size_t index, const Shape& shape) {
  const Phase& phase = s.phases[index];
  PhaseTraffic t{.step = s.steps[index], .window = phase.window};
  for (const Transfer& transfer : s.sends_of(phase)) {
    const bool within = shape.same_node(s.rank, transfer.peer);
    const int segments = s.carried(transfer);
    ++(within ? t.sends_within : t.sends_between);
    (within ? t.out_within : t.out_between) += segments;
    if (transfer.count > 1) t.copied += segments;
  }
  for (const Transfer& transfer : s.receives_of(phase)) {
    const bool within = shape.same_node(s.rank, transfer.peer);
    const int segments = s.carried(transfer);
    ++(within ? t.receives_within : t.receives_between);
    (within ? t.in_within : t.in_between) += segments;
    // What is combined is read where it landed: unpacking costs nothing on top.
    if (transfer.count > 1 || transfer.action != Action::replace) t.copied += segments;
  }
  return t;
}

}  // namespace

Traffic traffic(const SegmentStrategy& strategy, const Shape& shape, const Parameters& parameters) {
  const bool sampled = shape.size() > priced_exactly && strategy.ranks == Ranks::alike;
  Traffic t;
  t.nodes = count_nodes(shape, sampled ? Counting::sampled : Counting::exact, [&](int rank) {
    const SegmentSchedule s = schedule(strategy, shape, rank, parameters);
    t.most_slots = std::max(t.most_slots, s.slots + layout_of(s).most_segments);
    std::vector<PhaseTraffic> phases;
    for (std::size_t i = 0; i < s.phases.size(); ++i) phases.push_back(count_phase(s, i, shape));
    return phases;
  });
  return t;
}

Cost cost(const SegmentStrategy& strategy, const Shape& shape, const Parameters& parameters,
          long long buffer_bytes, const Machine& machine) {
  const long long segments = std::max(1, strategy.segments(shape, parameters));
  return price(traffic(strategy, shape, parameters), (buffer_bytes + segments - 1) / segments, machine);
}

}  // namespace wherry::plan
