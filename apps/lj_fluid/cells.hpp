// Cells of a rank's domain, for finding near particles: each is at least as wide as the reach of the lists, or half of
// it where that leaves several particles in a cell. So what is within reach is one cell away at most, or two.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lj_fluid/particle.hpp"

namespace lj_fluid {

class Cells {
 public:
  Cells(const Vector& lower, const Vector& upper, double reach);

  /// How many cells away others may be within reach; so many are around the domain, for ghosts.
  int layers() const { return layers_; }

  /// Where distances are computed from, in single precision: a corner.
  const Vector& origin() const { return origin_; }
  /// In each dimension, layers included.
  const std::array<int, 3>& counts() const { return counts_; }
  std::size_t size() const { return index(counts_[0] - 1, counts_[1] - 1, counts_[2] - 1) + 1; }

  /// Cells of a row along the first dimension follow each other.
  std::size_t index(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * static_cast<std::size_t>(counts_[1]) +
            static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(counts_[0]) +
           static_cast<std::size_t>(x);
  }
  /// Of any position; the nearest cell if it is outside. An own particle is never in a layer, however its cell is
  /// rounded.
  enum class Of { own, ghost };
  std::size_t cell_of(const Vector& position, Of whom) const;

 private:
  int layers_;
  Vector origin_, per_length_;
  std::array<int, 3> counts_;
};

/// Which of the sites are in which cell: those of cell c are members[begins[c]] to members[begins[c + 1] - 1], in the
/// order of sites.
struct Binned {
  std::vector<std::uint32_t> begins, members;
};
Binned binned(const Cells& cells, std::span<const Site> sites, Cells::Of whom);

}  // namespace lj_fluid
