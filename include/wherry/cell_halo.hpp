// Wherry for C++20: the cells of a grid around a rank's own, kept up to date with those of its neighbors.
//
//   wherry::CellGrid<3> grid(decomposition, {nx, ny, nz}, 1);       // one layer of cells around
//   std::vector<Cell> cells(grid.size());                           // this rank's cells and the layer, row-major
//   wherry::CellHalo<Cell, 3, &Cell::velocity> halo(grid, cells);   // of each cell the velocity alone; no member: all
// of it
//   for (...) {
//     halo.start();
//     compute_inside(cells);
//     halo.finish();
//     compute_edges(cells);
//   }
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "wherry/decomposition.hpp"
#include "wherry/types.hpp"

namespace wherry {

/// This rank's part of a grid of cells: of each dimension as many as of all others, or one more, and `width` around
/// them.
template <std::size_t D>
class CellGrid {
 public:
  /// cells: in the whole box. width: layers of cells around this rank's own. The decomposition must live as long.
  /// Throws usage_error (on all ranks) if a rank has fewer cells than layers, which come from next to it.
  CellGrid(const Decomposition<D>& decomposition, std::array<int, D> cells, int width)
      : decomposition_(&decomposition), width_(width) {
    for (std::size_t i = 0; i < D; ++i) {
      const int parts = decomposition.grid()[i];
      if (width < 0 || cells[i] / parts < std::max(width, 1))
        throw usage_error(std::to_string(cells[i]) + " cells on " + std::to_string(parts) +
                          " ranks in dimension " + std::to_string(i) + " are too few for " +
                          std::to_string(width) +
                          " layers around each part; give more cells, fewer ranks there, or fewer layers");
      const long long at = decomposition.coordinates()[i];
      first_[i] = static_cast<int>(at * cells[i] / parts);
      own_[i] = static_cast<int>((at + 1) * cells[i] / parts) - first_[i];
    }
  }

  const Decomposition<D>& decomposition() const { return *decomposition_; }
  int width() const { return width_; }
  /// Which of all cells is the first of this rank's own, and how many those are, in each dimension.
  const std::array<int, D>& first() const { return first_; }
  const std::array<int, D>& own() const { return own_; }
  /// Own cells and layers.
  std::array<int, D> extents() const {
    std::array<int, D> all = own_;
    for (int& n : all) n += 2 * width_;
    return all;
  }
  std::size_t size() const {
    std::size_t product = 1;
    for (const int n : extents()) product *= static_cast<std::size_t>(n);
    return product;
  }
  /// Where a cell lies in an array of size(): own cells count from 0, the layer below them is negative.
  std::size_t index(const std::array<int, D>& cell) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < D; ++i)
      at = at * static_cast<std::size_t>(extents()[i]) + static_cast<std::size_t>(cell[i] + width_);
    return at;
  }

 private:
  const Decomposition<D>* decomposition_;
  int width_;
  std::array<int, D> first_{}, own_{};
};

/// The exchange of one array's cells, whose arguments are fixed: persistent requests, one message to and from each
/// neighbor, across edges and corners too. Cells beyond a boundary that is not periodic stay as they are.
template <class T, std::size_t D, auto... member>
class CellHalo {
 public:
  /// cells: the array of grid.size(), which must stay where it is. Local. Throws usage_error if it is of another size;
  /// mpi_error.
  CellHalo(const CellGrid<D>& grid, std::span<T> cells) {
    if (cells.size() != grid.size())
      throw usage_error("the array has " + std::to_string(cells.size()) +
                        " cells, but the grid with its layers " + std::to_string(grid.size()) +
                        "; make it of grid.size()");
    if (grid.width() == 0) return;
    for (const Neighbor<D>& neighbor : grid.decomposition().neighbors()) {
      std::array<int, D> back = neighbor.direction;
      for (int& d : back) d = -d;
      // A message has the number of the direction in which it travels: two ranks may be neighbors in several.
      const MPI_Datatype inside = part(grid, neighbor.direction, Side::own);
      const MPI_Datatype outside = part(grid, neighbor.direction, Side::layer);
      const MPI_Comm comm = grid.decomposition().comm();
      detail::check("MPI_Recv_init", MPI_Recv_init(cells.data(), 1, outside, neighbor.rank, number_of(back),
                                                   comm, &requests_.emplace_back(MPI_REQUEST_NULL)));
      detail::check("MPI_Send_init",
                    MPI_Send_init(cells.data(), 1, inside, neighbor.rank, number_of(neighbor.direction), comm,
                                  &requests_.emplace_back(MPI_REQUEST_NULL)));
    }
  }
  CellHalo(const CellHalo&) = delete;
  CellHalo& operator=(const CellHalo&) = delete;
  ~CellHalo() {
    MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE);
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
  }

  /// Sends this rank's outer cells, which must not be changed until finish(). All ranks start; returns at once.
  void start() {
    if (requests_.empty()) return;  // Open MPI refuses a list of none
    detail::check("MPI_Startall", MPI_Startall(count(), requests_.data()));
  }
  /// Returns when the layers have what the neighbors sent.
  void finish() { detail::check("MPI_Waitall", MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE)); }

 private:
  enum class Side { own, layer };

  int count() const { return static_cast<int>(requests_.size()); }

  static int number_of(const std::array<int, D>& direction) {
    int number = 0;
    for (const int d : direction) number = 3 * number + d + 1;
    return number;
  }

  static MPI_Datatype cell_type() {
    if constexpr (sizeof...(member) == 0) return datatype<T>();
    else return datatype<Subset<T, member...>>();
  }

  /// The own cells next to the neighbor in a direction, or the layer on that side.
  MPI_Datatype part(const CellGrid<D>& grid, const std::array<int, D>& direction, Side side) {
    const int width = grid.width();
    std::array<int, D> extents = grid.extents(), lengths = grid.own(), begins{};
    for (std::size_t i = 0; i < D; ++i) {
      const int own = grid.own()[i];
      const int beyond = side == Side::layer ? width : 0;
      begins[i] = direction[i] == 0 ? width : direction[i] < 0 ? width - beyond : own + beyond;
      if (direction[i] != 0) lengths[i] = width;
    }
    MPI_Datatype& type = types_.emplace_back(MPI_DATATYPE_NULL);
    detail::check("MPI_Type_create_subarray",
                  MPI_Type_create_subarray(D, extents.data(), lengths.data(), begins.data(), MPI_ORDER_C,
                                           cell_type(), &type));
    detail::check("MPI_Type_commit", MPI_Type_commit(&type));
    return type;
  }

  std::vector<MPI_Datatype> types_;
  std::vector<MPI_Request> requests_;
};

}  // namespace wherry
