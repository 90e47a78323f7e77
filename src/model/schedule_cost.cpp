#include "model/cost.hpp"

#include <algorithm>

#include "schedule/segments/packing.hpp"

namespace wherry::model {

namespace {

PhaseTraffic count_phase(const schedule::SegmentSchedule& s, std::size_t index,
                         const topology::Placement& placement) {
  const schedule::Phase& phase = s.phases[index];
  PhaseTraffic t{.step = s.steps[index], .window = phase.window};
  for (const schedule::Transfer& transfer : s.sends_of(phase)) {
    const bool within = placement.same_node(s.rank, transfer.peer);
    const int segments = s.carried(transfer);
    ++(within ? t.sends_within : t.sends_between);
    (within ? t.out_within : t.out_between) += segments;
    if (transfer.count > 1) t.copied += segments;
  }
  for (const schedule::Transfer& transfer : s.receives_of(phase)) {
    const bool within = placement.same_node(s.rank, transfer.peer);
    const int segments = s.carried(transfer);
    ++(within ? t.receives_within : t.receives_between);
    (within ? t.in_within : t.in_between) += segments;
    // What is combined is read where it landed: unpacking costs nothing on top.
    if (transfer.count > 1 || transfer.action != schedule::Action::replace) t.copied += segments;
  }
  return t;
}

}  // namespace

Traffic traffic(const schedule::SegmentStrategy& strategy, const topology::Placement& placement,
                const schedule::Parameters& parameters) {
  const bool sampled = placement.size() > counted_exactly && strategy.ranks == schedule::Ranks::alike;
  Traffic t;
  t.nodes = count_nodes(placement, sampled ? Counting::sampled : Counting::exact, [&](int rank) {
    const schedule::SegmentSchedule s = schedule::schedule(strategy, placement, rank, parameters);
    t.most_slots = std::max(t.most_slots, s.slots + schedule::layout_of(s).most_segments);
    std::vector<PhaseTraffic> phases;
    for (std::size_t i = 0; i < s.phases.size(); ++i) phases.push_back(count_phase(s, i, placement));
    return phases;
  });
  return t;
}

Cost cost(const schedule::SegmentStrategy& strategy, const topology::Placement& placement,
          const schedule::Parameters& parameters, long long buffer_bytes, const Machine& machine) {
  const long long segments = std::max(1, strategy.segments(placement, parameters));
  return estimate(traffic(strategy, placement, parameters), (buffer_bytes + segments - 1) / segments,
                  machine);
}

Traffic traffic(const schedule::Routed& routed, const topology::Placement& placement) {
  const Counting counting = placement.size() <= counted_exactly ? Counting::exact : Counting::sampled;
  const auto count = [&](int rank) { return count_phases(routed.schedule(rank), placement); };
  return {.nodes = count_nodes(placement, counting, count), .most_slots = routed.most_slots()};
}

}  // namespace wherry::model
