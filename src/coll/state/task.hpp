// A call to perform, whether it is waited for or resumed later: its arguments, and where it runs.
#pragma once

#include <optional>

#include "arguments/neighborhood_call.hpp"
#include "arguments/segment_call.hpp"
#include "comm/communicator.hpp"
#include "exec/block_packer.hpp"
#include "exec/executor.hpp"
#include "exec/layout_exchange.hpp"

namespace wherry::run {

/// Of a collective, whichever it is. Read once, and kept until the call is over.
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

/// Inside the library's progress the library packs: what finds a layout may ask it for more than it may be asked there.
inline BlockPacker packer_of(const Task& task) {
  const LayoutState* const state = task.c.find<LayoutState>();
  const bool by_layouts = state != nullptr && task.lane.patience == Patience::wait;
  return {task.c.channel(), by_layouts ? state->layouts : nullptr};
}

/// Memory of blocking calls, of which there is one at a time on a communicator: the next uses it again.
struct BlockingCall {
  static constexpr StateSlot slot = StateSlot::blocking_call;

  Arguments arguments;
  Requests requests;
};

/// Of a blocking call. Its messages all have this tag.
inline Task blocking_task(Communicator& c) {
  constexpr int tag = 1;
  return {c, {&c.channel(), tag, Patience::wait}, c.state<BlockingCall>().requests};
}

}  // namespace wherry::run
