// Cells of a rank's domain, for finding near particles: each is at least half as wide as the reach of the lists, so that
// what is within reach is two cells away at most.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lj_fluid/site.hpp"

namespace lj_fluid {

class Cells {
 public:
  static constexpr int layers = 2;  // around the domain, for ghosts

  Cells(const Vector& lower, const Vector& upper, double reach);

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
