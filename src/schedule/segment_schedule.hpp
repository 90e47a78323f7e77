// A segment schedule: what one rank does in a collective whose data is one buffer cut into segments, as data.
//
// It is the schedule of every collective but the personalized all-to-all (schedule/schedule.hpp), and has the same
// outline, so that the same executor runs both: phases, and in each the messages to send and to receive. It names
// segments and peers and holds no pointer, size, request or tag. A binding adds addresses, sizes and the operation.
#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace wherry::schedule {

/// Segments first, first + 1, ..., first + count - 1; count >= 1.
struct SegmentRange {
  int first;
  int count;
  int end() const { return first + count; }
  friend bool operator==(const SegmentRange&, const SegmentRange&) = default;
};

/// What becomes of segments that arrive.
enum class Action {
  replace,         // mine = incoming
  combine_before,  // mine = incoming op mine, as MPI_Reduce_local does it
  combine_after,   // mine = mine op incoming, or mine op (incoming op held) if something is held
  hold,  // held = incoming, or incoming op held: waits in scratch for a combine_after of the same phase
};

/// Segments that travel together to or from one peer, in this order.
///
/// With one range they may be sent from where they are and received where they belong; several have to be packed.
/// What is to be combined lands in scratch slots [slot, slot + segments of the transfer).
struct Transfer {
  int peer;
  int first;      // index of the first range in SegmentSchedule::ranges
  int count;      // ranges; 0 in a barrier, whose messages carry nothing but must be sent
  Action action;  // of a receive; `replace` in a send
  int slot;       // first scratch slot, or at_home to replace
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// What rank `rank` of `size` does on its buffer of `segments` segments.
///
/// The buffer of an allgather, gather, scatter or reduce-scatter has one segment per rank; a broadcast, reduction or
/// allreduce is cut into as many as the strategy likes; a barrier has none. Ranks that take part without a buffer of
/// the caller's (in the inner nodes of a tree) need one of their own.
///
/// Phases are as in Schedule. Arrivals are combined when all messages of the phase are complete, one receive after the
/// other: so a phase may send the very segments that it combines. All receives of a phase that combine have the same
/// ranges. A phase with a window only replaces.
///
/// steps[i] is the step of the collective in which phase i happens. Both ends of a message are in the same
/// step, and the steps of a rank ascend: so no rank can wait for ever, and a picture has its columns.
struct SegmentSchedule {
  int size = 0;
  int rank = 0;
  int segments = 0;
  int slots = 0;  // scratch slots of one segment each
  std::vector<Phase> phases;
  std::vector<int> steps;
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  std::vector<SegmentRange> ranges;

  std::span<const Transfer> sends_of(const Phase& p) const {
    return {sends.data() + p.first_send, static_cast<std::size_t>(p.sends)};
  }
  std::span<const Transfer> receives_of(const Phase& p) const {
    return {receives.data() + p.first_receive, static_cast<std::size_t>(p.receives)};
  }
  std::span<const SegmentRange> ranges_of(const Transfer& t) const {
    return {ranges.data() + t.first, static_cast<std::size_t>(t.count)};
  }
  /// Segments that the transfer carries.
  int carried(const Transfer& t) const {
    int sum = 0;
    for (const SegmentRange& range : ranges_of(t)) sum += range.count;
    return sum;
  }
  friend bool operator==(const SegmentSchedule&, const SegmentSchedule&) = default;
};

}  // namespace wherry::schedule
