// Verlet lists: the pairs of particles that are within reach, each once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lj_fluid/cells.hpp"

namespace lj_fluid {

/// Of particle i the sites others[begins[i]] to others[begins[i + 1] - 1], in groups of four; what would be missing in
/// a group is the site that is nowhere.
struct PairLists {
  static constexpr std::size_t group = 4;
  std::vector<std::uint32_t> begins, others;
};

/// What lists are made of. own: as many sites as `own_count`, in the order of cells; behind them ghosts, and at last
/// one that is nowhere.
struct Neighborhood {
  const Cells& cells;
  std::span<const Site> sites;
  std::size_t own_count;
  std::span<const std::uint64_t> identities;  // of particles and ghosts
  double reach;
  // Of each own particle the identities of those that it is not listed with, which exclude it as well; empty: none do.
  std::span<const std::span<const std::uint64_t>> exclusions = {};
};

struct BothLists {
  PairLists own, ghosts;  // pairs of own particles; pairs of an own one and a ghost
};
/// Lists may hold a few pairs beyond the reach: distances are computed in single precision, rounded up.
void find_pairs(const Neighborhood& neighborhood, BothLists& lists);

}  // namespace lj_fluid
