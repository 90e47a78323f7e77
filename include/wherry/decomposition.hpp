// Wherry for C++20: a box in one to three dimensions, cut into a domain for each rank of a process grid.
//
//   wherry::Decomposition<3> decomposition(comm, {.lower = {0, 0, 0}, .upper = {l, l, l}, .periodic = {true, true,
// true}});
//   int owner = decomposition.owner(particle.position);
//
// halo.hpp has the particles that ranks keep of their neighbors' domains.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wherry/ranges.hpp"

namespace wherry {

template <std::size_t D>
using Point = std::array<double, D>;

template <std::size_t D>
struct Box {
  Point<D> lower{}, upper{};
  std::array<bool, D> periodic{};
};

/// The domain next to this one in a direction (-1, 0 or 1 in each dimension), faces, edges and corners alike.
template <std::size_t D>
struct Neighbor {
  int rank;
  std::array<int, D> direction;
  Point<D> shift;  // what a position is moved by on its way there, through a periodic boundary
};

template <std::size_t D>
class Decomposition {
  static_assert(D >= 1 && D <= 3);

 public:
  /// grid: domains in each dimension, whose product is the number of ranks; 0 where MPI_Dims_create is to choose.
  /// Collective over comm, with the same arguments on all ranks. Throws usage_error (on all ranks) if the box is empty
  /// or the grid does not fit; mpi_error.
  Decomposition(MPI_Comm comm, const Box<D>& box, std::array<int, D> grid = {})
      : box_(box), grid_(chosen(grid, detail::own_ranks(comm))) {
    for (std::size_t i = 0; i < D; ++i)
      if (!(box.lower[i] < box.upper[i]))
        throw usage_error("the box is from " + std::to_string(box.lower[i]) + " to " +
                          std::to_string(box.upper[i]) + " in dimension " + std::to_string(i) +
                          "; give an upper bound that is larger than the lower one");
    std::array<int, D> periods;
    std::copy(box.periodic.begin(), box.periodic.end(), periods.begin());
    detail::check("MPI_Cart_create", MPI_Cart_create(comm, D, grid_.data(), periods.data(), 0, &comm_));
    detail::check("MPI_Comm_rank", MPI_Comm_rank(comm_, &rank_));
    detail::check("MPI_Cart_coords", MPI_Cart_coords(comm_, rank_, D, coordinates_.data()));
    find_neighbors();
  }
  Decomposition(const Decomposition&) = delete;
  Decomposition& operator=(const Decomposition&) = delete;
  ~Decomposition() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  const Box<D>& box() const { return box_; }
  const std::array<int, D>& grid() const { return grid_; }
  const std::array<int, D>& coordinates() const { return coordinates_; }
  std::span<const Neighbor<D>> neighbors() const { return neighbors_; }

  /// Where this rank's domain begins and ends; what lies on the end is the next one's.
  double lower(std::size_t dimension) const { return bound(dimension, coordinates_[dimension]); }
  double upper(std::size_t dimension) const { return bound(dimension, coordinates_[dimension] + 1); }

  /// The position in the box, where the box is periodic.
  Point<D> wrapped(Point<D> position) const {
    for (std::size_t i = 0; i < D; ++i) {
      if (!box_.periodic[i]) continue;
      const double length = box_.upper[i] - box_.lower[i];
      position[i] -= length * std::floor((position[i] - box_.lower[i]) / length);
      if (position[i] >= box_.upper[i]) position[i] = box_.lower[i];  // by rounding
    }
    return position;
  }

  /// The rank whose domain has a wrapped position. What is outside the box, where it is not periodic, belongs to the
  /// nearest domain. The position is finite.
  int owner(const Point<D>& position) const {
    std::array<int, D> at{};
    for (std::size_t i = 0; i < D; ++i) at[i] = domain_of(i, position[i]);
    return rank_at(at);
  }

 private:
  static std::array<int, D> chosen(std::array<int, D> grid, std::size_t ranks) {
    std::size_t fixed = 1;
    bool free = false;
    for (const int n : grid) {
      if (n > 0) fixed *= static_cast<std::size_t>(n);
      free |= n == 0;
    }
    const bool fits = free ? ranks % fixed == 0 : ranks == fixed;
    if (!fits || std::ranges::any_of(grid, [](int n) { return n < 0; }))
      throw usage_error("the process grid does not fit " + std::to_string(ranks) +
                        " ranks; give numbers whose product they are, or 0 where it may be chosen");
    detail::check("MPI_Dims_create", MPI_Dims_create(static_cast<int>(ranks), D, grid.data()));
    return grid;
  }

  double bound(std::size_t i, int domain) const {
    if (domain == grid_[i]) return box_.upper[i];
    return box_.lower[i] + (box_.upper[i] - box_.lower[i]) * domain / grid_[i];
  }

  int domain_of(std::size_t i, double x) const {
    const double part = (x - box_.lower[i]) / (box_.upper[i] - box_.lower[i]) * grid_[i];
    int domain = static_cast<int>(std::clamp(std::floor(part), 0.0, double(grid_[i] - 1)));
    // The bounds decide, which are rounded otherwise.
    while (domain > 0 && x < bound(i, domain)) --domain;
    while (domain + 1 < grid_[i] && x >= bound(i, domain + 1)) ++domain;
    return domain;
  }

  int rank_at(const std::array<int, D>& coordinates) const {
    int rank = MPI_PROC_NULL;
    detail::check("MPI_Cart_rank", MPI_Cart_rank(comm_, coordinates.data(), &rank));
    return rank;
  }

  void find_neighbors() {
    constexpr int directions = D == 1 ? 3 : D == 2 ? 9 : 27;
    for (int code = 0; code < directions; ++code)
      if (code != directions / 2) add_neighbor(code);
  }

  /// code: the direction in base three, 1 for none.
  void add_neighbor(int code) {
    Neighbor<D> neighbor{};
    std::array<int, D> at = coordinates_;
    for (std::size_t i = 0; i < D; ++i, code /= 3) {
      neighbor.direction[i] = code % 3 - 1;
      at[i] += neighbor.direction[i];
      if (at[i] >= 0 && at[i] < grid_[i]) continue;
      if (!box_.periodic[i]) return;
      neighbor.shift[i] = -neighbor.direction[i] * (box_.upper[i] - box_.lower[i]);
      at[i] = (at[i] + grid_[i]) % grid_[i];
    }
    neighbor.rank = rank_at(at);
    neighbors_.push_back(neighbor);
  }

  Box<D> box_;
  std::array<int, D> grid_, coordinates_{};
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::vector<Neighbor<D>> neighbors_;
};

}  // namespace wherry
