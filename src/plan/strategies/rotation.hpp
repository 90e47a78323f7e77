// Rotation: in round k, send to the rank k after me and receive from the rank k before me.
// P - 1 messages per rank, each block moves once; in every round each rank sends one and receives one.
#pragma once

#include "plan/arithmetic.hpp"
#include "plan/schedule.hpp"
#include "plan/shape.hpp"

namespace wherry::plan {

inline int rotation(const Shape& shape, Block block) {
  return wrap(block.destination - block.origin, shape.size());
}

}  // namespace wherry::plan
