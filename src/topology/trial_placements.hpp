// Placements to try schedules on.
#pragma once

#include <algorithm>
#include <vector>

#include "topology/placement.hpp"

namespace wherry::topology {

template <class NodeOf>
Placement placed_by(int size, NodeOf&& node_of) {
  std::vector<int> nodes;
  for (int rank = 0; rank < size; ++rank) nodes.push_back(node_of(rank));
  return Placement::placed(nodes);
}

/// Placements of `size` ranks that have broken schedules before or might: one node, blocked with a short
/// last node, even and uneven nodes, ranks dealt out in turn, one big node among singles, and a mixture.
/// First of all the flat one.
inline std::vector<Placement> trial_placements(int size) {
  const std::vector<Placement> all = {
      Placement::flat(size),
      Placement::spread(size, 1),
      Placement::blocked(size, 3),
      Placement::spread(size, std::min(size, 4)),
      placed_by(size, [](int rank) { return rank % 5; }),                       // dealt out in turn
      placed_by(size, [=](int rank) { return std::max(0, rank - size / 2); }),  // one big node among singles
      placed_by(size, [](int rank) { return static_cast<int>(rank * 2654435761U >> 29); }),  // a mixture
  };
  std::vector<Placement> different;
  for (const Placement& placement : all)
    if (std::find(different.begin(), different.end(), placement) == different.end())
      different.push_back(placement);
  return different;
}

}  // namespace wherry::topology
