// Which ranks take part in a probe.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "topology/placement.hpp"

namespace bench::model {

inline constexpr int most_flows = 8;

struct Pair {
  int a, b;  // a has the clock
};

/// Streams in both directions between a rank of the first node and one of another: as all-to-alls load a link.
struct Flow {
  int home, away;
};

inline std::optional<Pair> pair_within(const wherry::topology::Placement& placement) {
  for (int node = 0; node < placement.nodes(); ++node)
    if (const auto members = placement.members(node); members.size() > 1) return Pair{members[0], members[1]};
  return std::nullopt;
}

inline std::optional<Pair> pair_between(const wherry::topology::Placement& placement) {
  if (placement.nodes() == 1) return std::nullopt;
  return Pair{placement.members(0)[0], placement.members(1)[0]};
}

/// With as many other nodes as there are.
inline std::vector<Flow> flows_of_first(const wherry::topology::Placement& placement) {
  std::vector<Flow> flows;
  const auto home = placement.members(0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(placement.largest_node()); ++i)
    for (int node = 1; node < placement.nodes(); ++node)
      if (const auto members = placement.members(node); i < members.size())
        flows.push_back({home[flows.size() % home.size()], members[i]});
  if (flows.size() > most_flows) flows.resize(most_flows);
  return flows;
}

}  // namespace bench::model
