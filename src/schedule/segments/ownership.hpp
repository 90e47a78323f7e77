// Which segments belong to the members of a group.
//
// Each class has `Ranges of(int first, int count) const`: the segments of members first, ..., first + count - 1.
#pragma once

#include <span>

#include "schedule/segments/ranges.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule::segments {

/// Segment i is member i's; members count around the ring.
struct OneEach {
  int size;
  Ranges of(int first, int count) const { return around(first, count, size); }
};

/// All of the buffer is everybody's. With no segments, a message that carries nothing.
struct Whole {
  int segments;
  Ranges of(int, int) const { return {0, segments}; }
};

/// Member i is the i-th rank of a node, and has the segment of its rank.
struct OfMembers {
  std::span<const int> ranks;
  Ranges of(int first, int count) const {
    Ranges segments;
    for (const int rank : ranks.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)))
      segments.add(rank, 1);
    return segments;
  }
};

/// Member i is the i-th node, and has the segments of its ranks; nodes count around the ring.
struct OfNodes {
  const topology::Placement& placement;
  Ranges of(int first, int count) const {
    Ranges segments;
    for (int node = first; node < first + count; ++node)
      for (const int rank : placement.members(node % placement.nodes())) segments.add(rank, 1);
    return segments;
  }
};

}  // namespace wherry::schedule::segments
