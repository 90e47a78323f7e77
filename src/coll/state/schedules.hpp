// This rank's schedules on a communicator, each derived once.
#pragma once

#include <map>
#include <tuple>

#include "comm/communicator.hpp"
#include "exec/block_bindings.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "schedule/segments/packing.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace wherry::run {

/// A schedule of this rank, ready to run.
struct Prepared {
  schedule::Schedule schedule;
  CombinedLayout layout;
};

/// The same of a segment schedule.
struct PreparedSegments {
  schedule::SegmentSchedule schedule;
  schedule::SegmentLayout layout;
  schedule::SegmentRange reach;     // the segments that it touches
  schedule::SegmentRange received;  // those of them that arrive
  bool sends_its_own;               // schedule::sends_its_own()
};

class Schedules {
 public:
  static constexpr StateSlot slot = StateSlot::schedules;

  explicit Schedules(const Communicator& c) : c_(c) {}
  const Prepared& of(const schedule::Strategy& strategy);
  /// root: of the collectives that have one, else 0.
  const PreparedSegments& of(const schedule::SegmentStrategy& strategy, int depth, int root);

 private:
  const Communicator& c_;
  std::map<const schedule::Strategy*, Prepared> blocks_;
  std::map<std::tuple<const schedule::SegmentStrategy*, int, int>, PreparedSegments> segments_;
};

inline const Prepared& prepared(Communicator& c, const schedule::Strategy& strategy) {
  return c.state<Schedules>().of(strategy);
}
inline const PreparedSegments& prepared(Communicator& c, const schedule::SegmentStrategy& strategy, int depth,
                                        int root) {
  return c.state<Schedules>().of(strategy, depth, root);
}

}  // namespace wherry::run
