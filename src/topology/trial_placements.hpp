// Placements to try schedules on.
#pragma once

#include <vector>

#include "topology/placement.hpp"

namespace wherry::topology {

/// Placements of `size` ranks that have broken schedules before or might: one node, blocked with a short
/// last node, even and uneven nodes, ranks dealt out in turn, one big node among singles, and a mixture.
/// First of all the flat one.
std::vector<Placement> trial_placements(int size);

}  // namespace wherry::topology
