// Strategies of one hop: every block goes straight to its destination; a rule says in which round.
#pragma once

#include "schedule/blocks/families/family.hpp"

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
    for (int peer = 0; peer < placement.size(); ++peer) {
      if (peer == rank) continue;
      sink(Block{rank, peer});
      sink(Block{peer, rank});
    }
  }

  static long long transit(const topology::Placement&) { return 0; }
};

}  // namespace wherry::schedule
