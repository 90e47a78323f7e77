// The arguments of a nonblocking or persistent collective, whichever it is.
#pragma once

#include <optional>

#include "arguments/joined_blocks.hpp"
#include "arguments/segment_call.hpp"

namespace wherry::run {

/// Read once, and kept until the call is over.
struct Arguments {
  Blocks blocks;         // of all-to-alls and neighborhoods, by rank
  SegmentCall segments;  // of the other collectives
  NeighborCall neighbors;
  std::optional<Joined> joined;  // of a neighborhood: the types that blocks have
};

}  // namespace wherry::run
