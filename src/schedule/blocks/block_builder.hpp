// From the routes of blocks to the schedule of one rank.
#pragma once

#include <vector>

#include "schedule/blocks/route.hpp"
#include "schedule/blocks/slots.hpp"
#include "schedule/schedule.hpp"

namespace wherry::schedule {

/// Collects the routes that touch one rank and derives its messages, copies and staging slots.
///
/// Both ends of a message must agree on it without talking, so all orders follow from the blocks alone:
/// messages of a phase by the distance that they travel around the ring of ranks (so that no rank is
/// everybody's first target), blocks in a message by when they leave again (so that slots fall free in runs),
/// then by destination and origin (so that what lands in order can be sent on in order).
class Builder {
 public:
  Builder(int size, int rank, Pace pace);

  /// Takes note of a block's hops from and to this rank; other hops do not matter. Each block at most once.
  void add(Block block, const Route& route);
  /// O(n log n) for n noted hops. The builder is used up.
  Schedule finish();

 private:
  /// One hop of a block, seen from this rank.
  struct Leg {
    unsigned long long message;  // sorts by phase, then distance; equal within a message
    unsigned long long item;     // sorts blocks within a message
    Block block;
    int peer;
    int stay;  // number of the block's stay in staging here, or none
    int phase() const { return static_cast<int>(message >> 32); }
  };
  using Legs = std::vector<Leg>;

  static constexpr int none = -1;

  Leg leg(Block block, const Hop* hop, const Hop* end, int from, int stay) const;
  void build_phase(std::size_t& sent, std::size_t& received);
  Message receive(const Leg* first, const Leg* last);
  Message send(const Leg* first, const Leg* last);
  int gathered(const Leg* first, const Leg* last);
  int slot_of(const Leg& leg) const;
  int schedule_phase(const Leg& leg) const { return pace_ == in_phases ? leg.phase() : 0; }

  Pace pace_;
  Schedule result_;
  Legs sends_;
  Legs receives_;
  std::vector<int> slot_of_stay_;
  Slots slots_;
  std::vector<int> freed_;  // slots that are free when the phase is over
};

// The schedule of a rank from nothing but the strategy's routes: the oracle for the cheap one.

/// Asks every block of all P^2 where it goes. Strategy::schedule gives the same in time proportional to the
/// blocks that the rank meets.
Schedule derive(RouteOf route, Pace pace, const topology::Placement& placement, int rank);

}  // namespace wherry::schedule
