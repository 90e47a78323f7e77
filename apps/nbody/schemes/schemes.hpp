// The makers of the schemes, one file each; nbody/scheme.hpp has the table.
#pragma once

#include "nbody/scheme.hpp"

namespace nbody {

std::unique_ptr<Scheme> equal_shares(MPI_Comm comm, Team& team, std::size_t bodies);
std::unique_ptr<Scheme> balanced_shares(MPI_Comm comm, Team& team, std::size_t bodies);
std::unique_ptr<Scheme> replicated(MPI_Comm comm, Team& team, std::size_t bodies);
std::unique_ptr<Scheme> node_shared(MPI_Comm comm, Team& team, std::size_t bodies);
/// The same with other groups than the nodes; node: this rank's, whose ranks can share memory.
std::unique_ptr<Scheme> node_shared_among(MPI_Comm comm, MPI_Comm node, Team& team, std::size_t bodies);
std::unique_ptr<Scheme> overlapped(MPI_Comm comm, Team& team, std::size_t bodies);
/// In how many blocks that adds up.
std::size_t overlapped_blocks(std::size_t bodies, std::size_t ranks);
/// The same with other blocks, and polls the reductions under way after so many pairs.
std::unique_ptr<Scheme> overlapped_in(std::size_t blocks, MPI_Comm comm, Team& team, std::size_t bodies,
                                      std::uint64_t pairs_between);
std::unique_ptr<Scheme> allgathered(MPI_Comm comm, Team& team, std::size_t bodies);
std::unique_ptr<Scheme> half_ring(MPI_Comm comm, Team& team, std::size_t bodies);
std::unique_ptr<Scheme> quorum(MPI_Comm comm, Team& team, std::size_t bodies);
std::unique_ptr<Scheme> grid(MPI_Comm comm, Team& team, std::size_t bodies);

/// Rows and columns of the grid of ranks: as near to a square as their number allows.
struct GridShape {
  int rows, columns;
};
GridShape grid_shape(int ranks);

}  // namespace nbody
