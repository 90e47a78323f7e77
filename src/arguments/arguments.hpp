// The arguments of a call that does not end where it begins, of whatever collective.
#pragma once

#include <optional>

#include "arguments/joined_blocks.hpp"
#include "arguments/segment_call.hpp"

namespace wherry::run {

/// Read once, and kept until the call is over.
struct Arguments {
  Blocks blocks;         // of all-to-alls and neighbourhoods, by rank
  SegmentCall segments;  // of the other collectives
  NeighbourCall neighbours;
  std::optional<Joined> joined;  // of a neighbourhood: the types that blocks have
};

}  // namespace wherry::run
