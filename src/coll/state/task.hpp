// A call to perform, whether it is waited for or resumed later: its arguments, and where it runs.
#pragma once

#include <optional>

#include "arguments/neighborhood_call.hpp"
#include "arguments/segment_call.hpp"
#include "coll/state/communicator.hpp"

namespace wherry::run {

/// Of a nonblocking or persistent collective, whichever it is. Read once, and kept until the call is over.
struct Arguments {
  Blocks blocks;         // of all-to-alls and neighborhoods, by rank
  SegmentCall segments;  // of the other collectives
  NeighborCall neighbors;
  std::optional<Joined> joined;  // of a neighborhood: the types that blocks have
};

/// Where a call runs and what belongs to it alone. What it refers to must outlive the work.
struct Task {
  const Communicator& c;
  Lane lane;
  Requests& requests;
};

/// Of a blocking call. There is one at a time on a communicator, and its messages all have this tag.
inline Task blocking_task(Communicator& c) {
  constexpr int tag = 1;
  return {c, {&c.channel(), tag, Patience::wait}, c.requests};
}

}  // namespace wherry::run
