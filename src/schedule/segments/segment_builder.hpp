// Puts the schedule of one rank together from its transfers, in whatever order a strategy finds them.
#pragma once

#include <vector>

#include "schedule/segment_schedule.hpp"
#include "schedule/segments/ranges.hpp"

namespace wherry::schedule {

/// Collects transfers by step. Steps count from the start of the current part of a strategy; `pass` moves that start,
/// and all ranks must pass the same number of steps, whether they take part or not. Parts may overlap.
class SegmentBuilder {
 public:
  SegmentBuilder(int size, int rank, int segments);

  int size() const { return result_.size; }
  int rank() const { return result_.rank; }
  int segments() const { return result_.segments; }

  void send(int step, int peer, const Ranges& ranges);
  void receive(int step, int peer, const Ranges& ranges, Action action = Action::replace);
  /// The next part starts so many steps after the current one.
  void pass(int steps) { start_ += steps; }
  /// At most so many sends and receives under way in each phase (0, as at first: all).
  void limit(int window) { window_ = window; }
  /// O(n log n) for n transfers. The builder is used up.
  SegmentSchedule finish();

 private:
  struct Planned {
    int step;
    int number;  // in the order in which they were added
    Transfer transfer;
  };

  void plan(std::vector<Planned>& side, int step, int peer, const Ranges& ranges, Action action);
  void build_phase(int step, std::size_t& sent, std::size_t& received);

  SegmentSchedule result_;
  std::vector<Planned> sends_;
  std::vector<Planned> receives_;
  int start_ = 0;
  int window_ = 0;
};

}  // namespace wherry::schedule
