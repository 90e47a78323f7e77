// Prefix send: in round k, exchange with the rank whose number differs from mine by XOR k.
// P - 1 messages per rank, each block moves once. Both directions of a pair are under way together, and
// in aligned groups of 2^j ranks the first 2^j rounds stay inside the group. Partners that do not exist
// are skipped, so a P that is no power of two has rounds in which some ranks rest.
#pragma once

#include "schedule/schedule.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

inline int prefix(const topology::Placement&, Block block) { return block.origin ^ block.destination; }

}  // namespace wherry::schedule
