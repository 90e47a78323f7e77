// Rotation: in round k, send to the rank k after me and receive from the rank k before me.
// P - 1 messages per rank, each block moves once; in every round each rank sends one and receives one.
#pragma once

#include "schedule/arithmetic.hpp"
#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

inline int rotation(const topology::Placement& placement, Block block) {
  return wrap(block.destination - block.origin, placement.size());
}

}  // namespace wherry::schedule
