// Routes: where a block hops, phase by phase. A strategy is a function from blocks to routes.
#pragma once

#include <cassert>
#include <functional>
#include <initializer_list>

#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

/// In phase `phase` the block moves to rank `to`.
struct Hop {
  int phase;
  int to;
  friend bool operator==(const Hop&, const Hop&) = default;
};

/// The hops of one block, from its origin (not named) to its destination (the last hop).
///
/// Phases ascend strictly, and no rank is visited twice. A route has at most `capacity` hops and lives
/// on the stack: millions of them are made while schedules are built.
class Route {
 public:
  static constexpr int capacity = 31;  // binary digits of the largest rank

  Route() {}  // hops_ stays uninitialized: clearing it would cost more than most routes
  Route(std::initializer_list<Hop> hops) {
    for (const Hop& hop : hops) push_back(hop);
  }

  void push_back(Hop hop) {
    assert(size_ < capacity);
    hops_[size_++] = hop;
  }
  int size() const { return size_; }
  const Hop* begin() const { return hops_; }
  const Hop* end() const { return hops_ + size_; }
  const Hop& back() const { return hops_[size_ - 1]; }

 private:
  int size_ = 0;
  Hop hops_[capacity];
};

/// Where block `block` goes; block.origin != block.destination. Pure: every rank computes the same.
using RouteOf = Route (*)(const topology::Placement& placement, Block block);

/// Where an edge of a graph goes; `number` is its number there. Pure: every rank computes the same.
///
/// The phases of routes become phases of schedules one by one. A strategy of a single hop may have edges of one
/// rank share a phase or not, as it likes: phases are the same for all, so nothing can deadlock.
using RouteOfEdge = std::function<Route(Block edge, int number)>;

/// How the phases of routes become the phases of a schedule.
///
/// `in_phases`: one by one. Otherwise all of them are rounds of one phase with that window (0: all at
/// once); then every rank must have at most one send and one receive per round, and no block may hop twice.
using Pace = int;
inline constexpr Pace in_phases = -1;
inline constexpr Pace all_at_once = 0;

}  // namespace wherry::schedule
