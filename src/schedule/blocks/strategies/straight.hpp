// Strategies of one hop: every block goes straight to its destination and moves once; a rule says in which round.
#pragma once

#include <algorithm>

#include "schedule/arithmetic.hpp"
#include "schedule/blocks/families/family.hpp"
#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

/// The round in which a block moves. No two blocks of one origin share a round, nor two of one destination,
/// and both ends order their messages by it: so a window of any width cannot deadlock.
using RoundOf = int (*)(const topology::Placement&, Block);

template <RoundOf round, Pace how>
struct Rounds {
  static constexpr Hops hops = Hops::single;
  static constexpr Pace pace = how;
  static constexpr bool ranks_alike = false;

  static Route route(const topology::Placement& placement, Block block) {
    return {{round(placement, block), block.destination}};
  }

  template <class Sink>
  static void visit(const topology::Placement& placement, int rank, Sink&& sink) {
    visit_own(placement, rank, sink);
  }

  static long long transit(const topology::Placement&) { return 0; }
};

// ---- Rules ----

/// Rotation: in round k, send to the rank k after me and receive from the rank k before me.
/// P - 1 messages per rank, each block moves once; in every round each rank sends one and receives one.
inline int rotation(const topology::Placement& placement, Block block) {
  return wrap(block.destination - block.origin, placement.size());
}

/// Prefix send: in round k, exchange with the rank whose number differs from mine by XOR k.
/// P - 1 messages per rank, each block moves once. Both directions of a pair are under way together, and
/// in aligned groups of 2^j ranks the first 2^j rounds stay inside the group. Partners that do not exist
/// are skipped, so a P that is no power of two has rounds in which some ranks rest.
inline int prefix(const topology::Placement&, Block block) { return block.origin ^ block.destination; }

/// Node pairs: nodes meet in rounds, in each of which a node sends to one and receives from one.
///
/// For large blocks, where links are the bottleneck and forwarding would only add copies. Traffic within nodes comes
/// first. In the step of a round of nodes, the local ranks i and j exchange if (i + j) mod L is its number, L being the
/// size of the largest node: one partner at a time for everybody.
inline int node_pairs(const topology::Placement& placement, Block b) {
  const int from = placement.node_of(b.origin), to = placement.node_of(b.destination);
  const int steps = placement.largest_node();
  const int step = (placement.local_rank(b.origin) + placement.local_rank(b.destination)) % steps;
  return meeting_round(from, to, placement.nodes()) * steps + step;
}

}  // namespace wherry::schedule
